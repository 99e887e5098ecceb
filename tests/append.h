// A region that writes through a view and reads the tensor behind that: the part is stored at its place, and
// what is read is read there. For tests of compiled kernels and of a device; values come from plain C in double.
// After harness.h and help.h.
#ifndef TEST_APPEND_H
#define TEST_APPEND_H

enum { HEADS = 4, MOST = 4096, TOKENS = 24 };

static int programs_of(tc_ctx *tc) { return (int)tc_stats_get(tc).programs; }

// A row of integers that differ: sums of their products are exact.
static void token(int n, int width, double *row) {
    for (int i = 0; i < HEADS * width; i++) row[i] = (n * 5 + i * 3) % 7 - 3;
}

// Where they are; NULL = the host.
static const char *append_device;

static tc_tensor placed(tc_tensor t) {
    if (!append_device) return t;
    tc_tensor there = tc_to(t, append_device);
    tc_free(t);
    return there;
}

static tc_tensor tensor_of(tc_ctx *tc, const double *x, tc_dims dims, int n) {
    float f[512];
    for (int i = 0; i < n; i++) f[i] = (float)x[i];
    return placed(tc_from_data(tc, f, dims, TC_F32));
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
    tc_tensor cache = placed(tc_zeros(tc, TC_DIMS(HEADS, MOST, width), TC_F32));
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

static void a_cache_of_heads_is_read_where_it_is_written(tc_ctx *tc) {
    check_heads(tc, "heads of 64", 64, 16 << 10);
    check_heads(tc, "heads of 32", 32, 16 << 10);
    check_heads(tc, "heads of 16", 16, 16 << 10);
    check_heads(tc, "heads of 80", 80, 16 << 10);
}

// Rows of 5 are no vectors: stored elsewhere and copied, with the same values.
static void a_cache_of_short_rows_has_the_same_values(tc_ctx *tc) {
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

static void a_product_is_appended_in_a_function(tc_ctx *tc) {
    enum { D = 32 };
    tc_fn *fn = tc_compile(tc, decode, NULL, 0, NULL);
    tc_tensor cache = placed(tc_zeros(tc, TC_DIMS(MOST, D), TC_F32));
    float twice[D * D] = {0};
    for (int i = 0; i < D; i++) twice[i * D + i] = 2;
    tc_tensor w = placed(tc_from_data(tc, twice, TC_DIMS(D, D), TC_F32)), y;
    for (int n = 1; n <= TOKENS; n++) {
        double row[512], then[512];
        token(n, D / HEADS, row);
        tc_tensor x = tensor_of(tc, row, TC_DIMS(1, D), D);
        tc_tensor count = placed(tc_zeros(tc, TC_DIMS(n), TC_F32));
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
    return placed(tc_from_data(tc, f, TC_DIMS(6, 32), TC_F32));
}

#define ROWS(t, a, b, c, d, e, f)                                                          \
    do {                                                                                   \
        static const double want[6] = {a, b, c, d, e, f};                                  \
        for (int r = 0; r < 6; r++)                                                        \
            for (int k = 0; k < 32; k++) CHECK_EQ(AT(t, 32 * r + k), want[r] + k);         \
    } while (0)

static void what_was_there_before_is_read_too(tc_ctx *tc) {
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

static void parts_that_meet_are_written_in_order(tc_ctx *tc) {
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

static void a_view_is_written_again_and_read_by_itself(tc_ctx *tc) {
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
static void what_may_fail_writes_nothing_first(tc_ctx *tc) {
    tc_tensor x = six_rows(tc), y = tc_null();
    int64_t at[2] = {5, 9};
    tc_tensor index = placed(tc_from_data(tc, at, TC_DIMS(2), TC_I64));
    BEGIN("fails");
    tc_copy_(rows_of(x, 0, 1), tc_full(tc, TC_DIMS(1, 32), -1, TC_F32));
    y = tc_keep(tc_index_select(x, 0, index));
    (void)tc_trace_end(tc);
    ERROR(TC_E_INDEX, "9");
    CHECK_EQ(AT(x, 3), 3.0);
    (void)y;
    tc_free(x), tc_free(index);
}

// ---- parts whose memory begins anywhere, or steps ----

enum { FLAT = 4 * 24 * 16 + 64 };

// A cache of 4 heads, 24 rows of 16, in memory from element `begin` on, what stands around it is 7.
typedef struct loose {
    tc_tensor all, cache;
    int begin, turned; // turned: [heads, 16, 24], a column of each head is written
} loose;

static loose loose_cache(tc_ctx *tc, int begin, int turned) {
    loose l;
    l.all = placed(tc_full(tc, TC_DIMS(FLAT), 7, TC_F32));
    l.begin = begin, l.turned = turned;
    tc_tensor row = tc_narrow(l.all, 0, begin, 4 * 24 * 16);
    l.cache = tc_reshape(row, turned ? TC_DIMS(4, 16, 24) : TC_DIMS(4, 24, 16));
    return l;
}

// Element k of head h, row n, in the memory of all.
static int loose_at(const loose *l, int h, int n, int k) {
    return l->begin + (l->turned ? (h * 16 + k) * 24 + n : (h * 24 + n) * 16 + k);
}

// A row of each head is written and added up with those before it.
static void loose_step(tc_ctx *tc, const char *name, const loose *l, int n) {
    int rows = l->turned ? 2 : 1;
    double x[512];
    token(n, 16, x);
    tc_tensor row = tensor_of(
        tc, x, l->turned ? TC_DIMS(HEADS, 16, 1) : TC_DIMS(HEADS, 1, 16), HEADS * 16);
    BEGIN(name);
    tc_copy_(tc_narrow(l->cache, rows, n, 1), tc_mul_s(row, 2));
    tc_tensor y = tc_keep(tc_sum(tc_narrow(l->cache, rows, 0, n + 1), rows));
    END();
    for (int i = 0; i < HEADS * 16; i++) {
        double sum = 0, then[512];
        for (int k = 0; k <= n; k++) token(k, 16, then), sum += 2 * then[i];
        if (AT(y, i) != sum)
            FAIL("%s, token %d, %d: %g, not %g", name, n, i, AT(y, i), sum);
    }
    tc_free(row), tc_free(y);
}

static void loose_check(tc_ctx *tc, const char *name, int begin, int turned) {
    static float all[FLAT], want[FLAT];
    loose l = loose_cache(tc, begin, turned);
    for (int i = 0; i < FLAT; i++) want[i] = 7;
    for (int n = 0; n < 6; n++) {
        double row[512];
        token(n, 16, row);
        loose_step(tc, name, &l, n);
        for (int i = 0; i < HEADS * 16; i++)
            want[loose_at(&l, i / 16, n, i % 16)] = (float)(2 * row[i]);
    }
    CHECK_EQ(tc_read(l.all, all, sizeof all), TC_OK);
    for (int i = 0; i < FLAT; i++)
        if (all[i] != want[i])
            FAIL("%s: element %d is %g, not %g", name, i, all[i], want[i]);
    tc_free(l.cache), tc_free(l.all);
}

static void parts_begin_anywhere(tc_ctx *tc) {
    loose_check(tc, "in front", 0, 0);
    loose_check(tc, "aligned", 16, 0);
    loose_check(tc, "one", 1, 0);
    loose_check(tc, "three", 3, 0);
    loose_check(tc, "columns", 0, 1);
    loose_check(tc, "columns from five", 5, 1);
}

// All of a tensor that is a strided view, in part and whole; what lies between stays.
static void strided_views_are_written(tc_ctx *tc) {
    float all[16 * 24];
    for (int begin = 0; begin < 4; begin++) {
        tc_tensor base = placed(tc_full(tc, TC_DIMS(16, 24), 7, TC_F32));
        tc_tensor x = tc_narrow(base, 1, begin, 8), y;
        BEGIN("strided");
        tc_copy_(x, tc_full(tc, TC_DIMS(16, 8), 3, TC_F32));
        tc_copy_(tc_narrow(x, 0, 4, 2), tc_full(tc, TC_DIMS(2, 8), 5, TC_F32));
        y = tc_keep(tc_sum(x, 0));
        END();
        for (int i = 0; i < 8; i++) CHECK_EQ(AT(y, i), 3.0 * 14 + 5 * 2);
        CHECK_EQ(tc_read(base, all, sizeof all), TC_OK);
        for (int i = 0; i < 16 * 24; i++) {
            int r = i / 24, k = i % 24 - begin;
            float want = k < 0 || k >= 8 ? 7 : r == 4 || r == 5 ? 5 : 3;
            if (all[i] != want) FAIL("from %d, element %d: %g", begin, i, all[i]);
        }
        tc_free(base), tc_free(x), tc_free(y);
    }
}

// Keys and values are rows of one tensor: both are written before either is read.
static void two_parts_of_one_tensor(tc_ctx *tc) {
    enum { D = 32 };
    tc_tensor cache = placed(tc_zeros(tc, TC_DIMS(2, MOST, D), TC_F32));
    uint64_t arena = tc_stats_get(tc).arena_bytes;
    int before = programs_of(tc);
    for (int n = 0; n < TOKENS; n++) {
        double row[512], then[512];
        token(n, D / HEADS, row);
        tc_tensor x = tensor_of(tc, row, TC_DIMS(1, D), D), y;
        BEGIN("two parts");
        tc_tensor keys = tc_select(cache, 0, 0), values = tc_select(cache, 0, 1);
        tc_copy_(tc_narrow(keys, 0, n, 1), tc_mul_s(x, 2));
        tc_copy_(tc_narrow(values, 0, n, 1), tc_mul_s(x, 3));
        y = tc_keep(tc_matmul(tc_matmul(x, tc_t(tc_narrow(keys, 0, 0, n + 1))),
                              tc_narrow(values, 0, 0, n + 1)));
        END();
        for (int k = 0; k < D; k++) {
            double sum = 0;
            for (int i = 0; i <= n; i++) {
                double product = 0;
                token(i, D / HEADS, then);
                for (int j = 0; j < D; j++) product += row[j] * 2 * then[j];
                sum += product * 3 * then[k];
            }
            if (AT(y, k) != sum) FAIL("token %d, %d: %g, not %g", n, k, AT(y, k), sum);
        }
        tc_free(x), tc_free(y);
    }
    CHECK_EQ(programs_of(tc) - before, 2);
    CHECK(tc_stats_get(tc).arena_bytes - arena < 16 << 10);
    tc_free(cache);
}

// The same rows by two ways, rows that meet, and rows of which nobody knows whether they do: what was written last stays.
static void parts_by_other_ways(tc_ctx *tc) {
    for (int n = 1; n < 5; n++) {
        tc_tensor x = six_rows(tc), y, z;
        BEGIN("ways");
        tc_copy_(rows_of(x, 1, 2), tc_full(tc, TC_DIMS(2, 32), 1, TC_F32));
        tc_copy_(rows_of(rows_of(x, 0, 4), 1, 2), tc_full(tc, TC_DIMS(2, 32), 2, TC_F32));
        y = tc_keep(tc_sum(x, 1));
        END();
        CHECK_EQ(AT(y, 1), 64.0), CHECK_EQ(AT(y, 2), 64.0);
        CHECK_EQ(AT(y, 3), 300.0 * 32 + 31 * 16), CHECK_EQ(AT(x, 2 * 32 + 3), 2.0);
        BEGIN("somewhere");
        tc_copy_(rows_of(x, 0, n), tc_full(tc, TC_DIMS(n, 32), 3, TC_F32));
        tc_copy_(rows_of(x, 2, 1), tc_full(tc, TC_DIMS(1, 32), 4, TC_F32));
        tc_copy_(rows_of(x, 5, 1), tc_full(tc, TC_DIMS(1, 32), 5, TC_F32));
        z = tc_keep(tc_sum(x, 1));
        END();
        CHECK_EQ(AT(z, 0), 96.0), CHECK_EQ(AT(z, 2), 128.0), CHECK_EQ(AT(z, 5), 160.0);
        CHECK_EQ(AT(z, 3), n > 3 ? 96.0 : 300.0 * 32 + 31 * 16);
        CHECK_EQ(AT(x, 2 * 32), 4.0), CHECK_EQ(AT(x, 5 * 32 + 31), 5.0);
        tc_free(x), tc_free(y), tc_free(z);
    }
}

// Four rows of a table, each somewhere of its own.
static void rows_written_one_by_one(tc_ctx *tc) {
    tc_tensor x = placed(tc_zeros(tc, TC_DIMS(40, 32), TC_F32)), y;
    for (int visit = 0; visit < 6; visit++) {
        BEGIN("one by one");
        for (int i = 0; i < 4; i++)
            tc_copy_(tc_narrow(x, 0, 10 * i + 2, 1),
                     tc_add_s(tc_narrow(x, 0, 10 * i + 2, 1), i + 1));
        y = tc_keep(tc_sum(x, 1));
        END();
        for (int r = 0; r < 40; r++)
            CHECK_EQ(AT(y, r), r % 10 == 2 ? 32.0 * (visit + 1) * (r / 10 + 1) : 0.0);
        tc_free(y);
    }
    tc_free(x);
}

// Whole vectors are read, and stored from an element on that is no multiple of them.
static void parts_begin_in_a_row(tc_ctx *tc) {
    float k[16 * 16], all[16 * 24];
    for (int i = 0; i < 16 * 16; i++) k[i] = (float)(i % 29);
    for (int begin = 0; begin < 6; begin++) {
        tc_tensor x = placed(tc_full(tc, TC_DIMS(16, 24), 7, TC_F32)), y;
        tc_tensor of = placed(tc_from_data(tc, k, TC_DIMS(16, 16), TC_F32));
        BEGIN("in a row");
        tc_copy_(tc_narrow(x, 1, begin, 16), tc_mul_s(of, 2));
        y = tc_keep(tc_sum(x, 1));
        END();
        CHECK_EQ(tc_read(x, all, sizeof all), TC_OK);
        for (int r = 0; r < 16; r++) {
            double sum = 7 * 8;
            for (int i = 0; i < 16; i++) sum += 2 * k[r * 16 + i];
            CHECK_EQ(AT(y, r), sum);
            for (int i = 0; i < 24; i++) {
                int in = i >= begin && i < begin + 16;
                CHECK_EQ(all[r * 24 + i], in ? 2 * k[r * 16 + i - begin] : 7);
            }
        }
        tc_free(x), tc_free(y), tc_free(of);
    }
}

#define APPEND_TESTS(X)                                                                    \
    X(a_cache_of_heads_is_read_where_it_is_written)                                        \
    X(a_cache_of_short_rows_has_the_same_values)                                           \
    X(a_product_is_appended_in_a_function)                                                 \
    X(what_was_there_before_is_read_too)                                                   \
    X(parts_that_meet_are_written_in_order)                                                \
    X(a_view_is_written_again_and_read_by_itself)                                          \
    X(what_may_fail_writes_nothing_first)                                                  \
    X(parts_begin_anywhere)                                                                \
    X(two_parts_of_one_tensor)                                                             \
    X(parts_by_other_ways)                                                                 \
    X(rows_written_one_by_one)                                                             \
    X(parts_begin_in_a_row)                                                                \
    X(strided_views_are_written)

#endif
