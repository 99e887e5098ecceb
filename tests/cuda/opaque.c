// Scans, sorting and scatters on a device: CUDA texts that the emulator executes, against
// definitions written out here. All ops of a test are in one region, so their texts are
// compiled at the same time; none of them may be done by the host.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "halves.h"
#include "harness.h"
#include "tools/cuda_fake_use.h"

enum { MOST = 64, SHORT = 300 };

static uint64_t state = 1;
static uint32_t any(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

// A tensor as rows of doubles, which hold its elements exactly.
typedef struct given {
    int rows, n, dtype;
    double *x; // of malloc
    tc_tensor t;
} given;

typedef struct result {
    tc_tensor t;
    int dtype;
    int64_t count;
} result;

static tc_ctx *tc;
static given all[MOST];
static int gave;

static int open_device(void) {
    if (!use_emulator()) return 0;
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1;
    tc = tc_open(&config);
    return tc && (tc_cuda_open(tc, 0) == TC_OK || FAIL("%s", tc_error_text(tc)));
}

static void close_device(void) {
    CHECK(!tc_error(tc) || FAIL("error left over: %s", tc_error_text(tc)));
    CHECK(!fake->fault || FAIL("%s", fake->fault_text));
    tc_close(tc);
    while (gave > 0) free(all[--gave].x);
    for (int i = 0; i < FAKE_KINDS; i++) CHECK_EQ(fake->live[i], 0);
}

static void put(int dtype, void *at, int64_t i, double x) {
    uint16_t half =
        dtype == TC_F16 ? half_nearest(half_f16, x) : half_nearest(half_bf16, x);
    if (dtype == TC_BOOL || dtype == TC_U8) ((uint8_t *)at)[i] = (uint8_t)x;
    if (dtype == TC_I8) ((int8_t *)at)[i] = (int8_t)x;
    if (dtype == TC_I16) ((int16_t *)at)[i] = (int16_t)x;
    if (dtype == TC_I32) ((int32_t *)at)[i] = (int32_t)x;
    if (dtype == TC_I64) ((int64_t *)at)[i] = (int64_t)x;
    if (dtype == TC_F16 || dtype == TC_BF16) ((uint16_t *)at)[i] = half;
    if (dtype == TC_F32) ((float *)at)[i] = (float)x;
    if (dtype == TC_F64) ((double *)at)[i] = x;
}

static double get(int dtype, const void *at, int64_t i) {
    if (dtype == TC_BOOL || dtype == TC_U8) return ((const uint8_t *)at)[i];
    if (dtype == TC_I8) return ((const int8_t *)at)[i];
    if (dtype == TC_I16) return ((const int16_t *)at)[i];
    if (dtype == TC_I32) return ((const int32_t *)at)[i];
    if (dtype == TC_I64) return (double)((const int64_t *)at)[i];
    if (dtype == TC_F16) return half_value(half_f16, ((const uint16_t *)at)[i]);
    if (dtype == TC_BF16) return half_value(half_bf16, ((const uint16_t *)at)[i]);
    if (dtype == TC_F32) return (double)((const float *)at)[i];
    return ((const double *)at)[i];
}

// A tensor on the device; value(dtype, i) gives its elements.
static given *give(int rows, int n, int dtype, double (*value)(int dtype, int i)) {
    given *g = &all[gave++];
    size_t count = (size_t)rows * (size_t)n;
    void *bytes = calloc(count + 1, 8);
    g->rows = rows, g->n = n, g->dtype = dtype;
    g->x = (double *)calloc(count + 1, sizeof *g->x);
    for (size_t i = 0; i < count; i++) {
        put(dtype, bytes, (int64_t)i, value(dtype, (int)i));
        g->x[i] = get(dtype, bytes, (int64_t)i);
    }
    tc_tensor host = tc_from_data(tc, bytes, TC_DIMS(rows, n), (tc_dtype)dtype);
    g->t = tc_to(host, "cuda:0");
    CHECK_STR(tc_device_of(g->t), "cuda:0");
    free(bytes);
    return g;
}

static int same(double a, double b) {
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

// The elements of t are `want` within `error` of each one's size in `scale`; scale NULL = equal.
static void expect_near(tc_tensor t, const double *want, int64_t n, double error,
                        const double *scale, int line) {
    int dtype = (int)tc_dtype_of(t), bad = 0;
    void *bytes = calloc((size_t)n + 1, 8);
    CHECK_EQ(tc_numel(t), n);
    CHECK_STR(tc_device_of(t), "cuda:0");
    if (tc_numel(t) == n)
        CHECK_EQ(tc_read(t, bytes, (size_t)n * tc_dtype_bytes((tc_dtype)dtype)), TC_OK);
    for (int64_t i = 0; i < n && !bad; i++) {
        double got = get(dtype, bytes, i);
        int ok = scale ? fabs(got - want[i]) <= error * scale[i] : same(got, want[i]);
        bad = !ok;
        if (bad)
            test_fail(__FILE__, line, "%s: element %d of %d is %.17g, not %.17g",
                      tc_dtype_name((tc_dtype)dtype), (int)i, (int)n, got, want[i]);
    }
    free(bytes);
}

#define EXPECT(t, want, n) expect_near(t, want, n, 0, NULL, __LINE__)

static int launches_before;
static void begin(const char *name) {
    launches_before = fake->launches;
    tc_trace_begin(tc, name);
}

// So many kernels ran, all on the device.
static void end(int launches) {
    CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
    CHECK_EQ(tc_sync(tc), TC_OK);
    CHECK_EQ(fake->launches - launches_before, launches);
}

// ---- values ----

static double small(int dtype, int i) {
    (void)i;
    return (double)(any() % 7) - (dtype == TC_U8 ? 0 : 3);
}

static double zero(int dtype, int i) {
    (void)dtype, (void)i;
    return 0;
}

static double fraction(int dtype, int i) {
    (void)dtype, (void)i;
    return (double)any() / 4294967296.0 * 2 - 0.5;
}

static double near_one(int dtype, int i) {
    (void)dtype, (void)i;
    return 1 + ((double)any() / 2147483648.0 - 0.5) / 64;
}

static double ones_and_twos(int dtype, int i) { // of products: exact, and they do not grow
    (void)dtype;
    return i % 2 ? 0.5 : (i / 2) % 3 ? 2 : -2;
}

// Few different values, with NaN, infinities, and zeros of both signs.
static double tied(int dtype, int i) {
    static const double odd[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1e-40, -1e-40};
    int is_float = dtype >= TC_F16;
    (void)i;
    if (is_float && any() % 4 == 0) return odd[any() % 7];
    return (double)(any() % 11) - (dtype == TC_U8 ? 0 : 5);
}

// Most are different.
static double spread(int dtype, int i) {
    double x = (double)any() - 2147483648.0;
    if (dtype == TC_I64) return x * 4194304;
    if (dtype == TC_F64) return i % 50 ? x * 1e90 : NAN;
    return dtype == TC_F32 && i % 50 == 0 ? NAN : x;
}

// ---- scans ----

static double *scan(const given *g, int product) {
    double *want = (double *)calloc((size_t)g->rows * (size_t)g->n + 1, sizeof *want);
    for (int r = 0; r < g->rows; r++) {
        double s = product;
        for (int i = r * g->n; i < (r + 1) * g->n; i++)
            want[i] = s = product ? s * g->x[i] : s + g->x[i];
    }
    return want;
}

// Values whose sums and products are exact in any order, so that all elements are equal.
TEST(scans_of_all_sizes) {
    static const int sizes[][2] = {{3, 1},    {70, 5},   {9, 256}, {2, 300},
                                   {3, 4099}, {2, 5000}, {1, 8201}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    static const int dtypes[] = {TC_I64, TC_F32, TC_F64};
    given *g[SIZES * 6];
    tc_tensor y[SIZES * 6];
    int n = 0, launches = 0;
    REQUIRE(open_device());
    for (int s = 0; s < SIZES; s++)
        for (int d = 0; d < 3; d++) {
            int product = (s + d) % 2 && dtypes[d] != TC_I64;
            g[n++] =
                give(sizes[s][0], sizes[s][1], dtypes[d], product ? ones_and_twos : small);
        }
    begin("scans");
    for (int i = 0; i < n; i++)
        y[i] =
            (i / 3 + i % 3) % 2 && i % 3 ? tc_cumprod(g[i]->t, 1) : tc_cumsum(g[i]->t, 1);
    for (int i = 0; i < n; i++) {
        int width = g[i]->n % (g[i]->dtype == TC_F32 ? 4 : 2) ? 1
                    : g[i]->dtype == TC_F32                   ? 4
                                                              : 2;
        launches += g[i]->n >= 8 * 1024 * width ? 2 : 1;
    }
    end(launches);
    CHECK(launches > n); // some went by tiles
    for (int i = 0; i < n; i++) {
        double *want = scan(g[i], (i / 3 + i % 3) % 2 && i % 3);
        EXPECT(y[i], want, (int64_t)g[i]->rows * g[i]->n);
        free(want);
    }
    close_device();
}

// Rows of many tiles, more than two groups of them.
TEST(scans_of_long_rows) {
    enum { N = 70000, M = 20001 };
    REQUIRE(open_device());
    given *a = give(2, N, TC_F32, small), *b = give(1, M, TC_F32, fraction),
          *c = give(1, 4 * M, TC_I64, spread), *d = give(2, M, TC_F64, near_one);
    begin("long");
    tc_tensor y[4] = {tc_cumsum(a->t, 1), tc_cumsum(b->t, 1), tc_cumsum(c->t, 1),
                      tc_cumprod(d->t, 1)};
    end(8);
    double *want[4] = {scan(a, 0), scan(b, 0), scan(c, 0), scan(d, 1)}, *sizes;
    EXPECT(y[0], want[0], 2 * N);
    sizes = (double *)calloc(M, sizeof *sizes);
    for (int i = 0; i < M; i++) sizes[i] = i + 1;
    expect_near(y[1], want[1], M, 1e-7, sizes, __LINE__);
    free(sizes);
    // Products of f64: a few hundred roundings.
    sizes = (double *)calloc(2 * M, sizeof *sizes);
    for (int i = 0; i < 2 * M; i++) sizes[i] = fabs(want[3][i]);
    expect_near(y[3], want[3], 2 * M, 1e-11, sizes, __LINE__);
    free(sizes);
    int64_t *sums = (int64_t *)calloc(4 * M, sizeof *sums);
    uint64_t sum = 0;
    CHECK_EQ(tc_read(y[2], sums, 4 * M * sizeof *sums), TC_OK);
    for (int i = 0; i < 4 * M; i++) {
        sum += (uint64_t)(int64_t)c->x[i];
        if ((uint64_t)sums[i] == sum) continue;
        FAIL("sum %d of integers", i);
        break;
    }
    free(sums);
    for (int i = 0; i < 4; i++) free(want[i]);
    close_device();
}

// What is first is added to 0; NaN and infinity stay.
TEST(scans_of_odd_values) {
    static const float x[6] = {-0.0f, 1, INFINITY, 1, -INFINITY, 1};
    const double want[6] = {0, 1, INFINITY, INFINITY, NAN, NAN};
    REQUIRE(open_device());
    tc_tensor t = tc_to(tc_from_data(tc, x, TC_DIMS(1, 6), TC_F32), "cuda:0");
    begin("odd");
    tc_tensor y = tc_cumsum(t, 1);
    end(1);
    EXPECT(y, want, 6);
    close_device();
}

// A run gives the bits of the run before.
TEST(long_sums_are_repeated) {
    enum { N = 30001 };
    static float first[N], again[N];
    REQUIRE(open_device());
    given *g = give(1, N, TC_F32, fraction);
    for (int run = 0; run < 4; run++) {
        tc_trace_begin(tc, "again");
        tc_tensor y = tc_cumsum(g->t, 1);
        CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
        CHECK_EQ(tc_read(y, run ? again : first, sizeof first), TC_OK);
        if (run) CHECK_BYTES(again, first, sizeof first);
    }
    close_device();
}

// ---- order ----

typedef struct keyed {
    double x;
    int at;
} keyed;

static int turned; // descending

static int compare(const void *a, const void *b) {
    const keyed *p = (const keyed *)a, *q = (const keyed *)b;
    int less = p->x == p->x && (q->x != q->x || p->x < q->x);
    int more = q->x == q->x && (p->x != p->x || q->x < p->x);
    if (less != more) return less != turned ? -1 : 1;
    return p->at < q->at ? -1 : 1;
}

// The first k of each row in order: places, and elements.
static void order(const given *g, int descending, int k, double *at, double *values) {
    keyed *row = (keyed *)calloc((size_t)g->n + 1, sizeof *row);
    turned = descending;
    for (int r = 0; r < g->rows; r++) {
        for (int i = 0; i < g->n; i++) row[i].x = g->x[r * g->n + i], row[i].at = i;
        qsort(row, (size_t)g->n, sizeof *row, compare);
        for (int i = 0; i < k; i++) at[r * k + i] = row[i].at, values[r * k + i] = row[i].x;
    }
    free(row);
}

static void expect_order(const given *g, int descending, int k, tc_tensor at,
                         tc_tensor values) {
    size_t n = (size_t)g->rows * (size_t)k;
    double *places = (double *)calloc(n + 1, sizeof *places),
           *elements = (double *)calloc(n + 1, sizeof *elements);
    order(g, descending, k, places, elements);
    EXPECT(at, places, (int64_t)n);
    if (values.id) EXPECT(values, elements, (int64_t)n);
    free(places);
    free(elements);
}

TEST(sorts_of_short_rows) {
    static const int dtypes[] = {TC_I32, TC_I64, TC_F32, TC_F64, TC_U8, TC_F16};
    static const int sizes[][2] = {{4, 1}, {3, 2}, {5, 33}, {2, 100}, {1, 1000}, {2, 65}};
    enum { DTYPES = 6 };
    given *g[2 * DTYPES];
    tc_tensor at[2 * DTYPES], values[2 * DTYPES];
    REQUIRE(open_device());
    for (int i = 0; i < 2 * DTYPES; i++)
        g[i] = give(sizes[i % 6][0], sizes[(i + i / 6) % 6][1], dtypes[i % DTYPES], tied);
    tc_trace_begin(tc, "sorts");
    for (int i = 0; i < 2 * DTYPES; i++) {
        memset(&values[i], 0, sizeof values[i]);
        if (i % 2)
            at[i] = tc_argsort(g[i]->t, 1, i / 6);
        else
            CHECK_EQ(tc_sort(g[i]->t, 1, i / 6, &values[i], &at[i]), TC_OK);
    }
    CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
    for (int i = 0; i < 2 * DTYPES; i++)
        expect_order(g[i], i / 6, g[i]->n, at[i], values[i]);
    close_device();
}

// Every number of threads, of pairs of a thread and of bits of a digit that a block sorts by, full and with one
// pair less or more: values in which all bits differ, and such with many ties.
static void sorts_of_all_shapes(int dtype, int most) {
    static const int sizes[] = {32,  33,  63,  65,   96,   127,  128,  129,  255,  256,
                                257, 500, 513, 1000, 1024, 1025, 2047, 2048, 4095, 4096};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    given *g[SIZES];
    tc_tensor at[SIZES];
    int many = 0;
    REQUIRE(open_device());
    for (; many < SIZES && sizes[many] <= most; many++)
        g[many] = give(3 - many % 2, sizes[many], dtype, many / 2 % 2 ? tied : spread);
    begin("shapes");
    for (int i = 0; i < many; i++) at[i] = tc_argsort(g[i]->t, 1, i % 2);
    end(many);
    for (int i = 0; i < many; i++)
        expect_order(g[i], i % 2, g[i]->n, at[i], (tc_tensor){0});
    close_device();
}

TEST(sorts_of_all_shapes_f32) { sorts_of_all_shapes(TC_F32, 4096); }
TEST(sorts_of_all_shapes_i64) { sorts_of_all_shapes(TC_I64, 2048); }
TEST(sorts_of_all_shapes_f64) { sorts_of_all_shapes(TC_F64, 2048); }

// By digits: two tiles and a part of one, ties across them.
TEST(sorts_of_long_rows) {
    REQUIRE(open_device());
    given *g[4] = {give(2, 9000, TC_F32, tied), give(1, 4097, TC_F64, spread),
                   give(1, 12288, TC_I32, spread), give(2, 5000, TC_I64, tied)};
    tc_tensor at[4];
    begin("sorts");
    for (int i = 0; i < 4; i++) at[i] = tc_argsort(g[i]->t, 1, i % 2);
    end(6 + 10 + 6 + 10);
    for (int i = 0; i < 4; i++) expect_order(g[i], i % 2, g[i]->n, at[i], (tc_tensor){0});
    // The workspace is as it was: another run is the same.
    tc_trace_begin(tc, "sorts");
    for (int i = 0; i < 4; i++) at[i] = tc_argsort(g[i]->t, 1, i % 2);
    CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
    for (int i = 0; i < 4; i++) expect_order(g[i], i % 2, g[i]->n, at[i], (tc_tensor){0});
    close_device();
}

TEST(extremes_of_integers) {
    static const int64_t x[] = {INT64_MAX, INT64_MIN, INT64_MAX - 1, -1, 0, INT64_MIN + 1};
    const double up[] = {1, 5, 3, 4, 2, 0}, down[] = {0, 2, 4, 3, 5, 1};
    REQUIRE(open_device());
    tc_tensor t = tc_to(tc_from_data(tc, x, TC_DIMS(1, 6), TC_I64), "cuda:0");
    begin("extremes");
    tc_tensor a = tc_argsort(t, 1, 0), b = tc_argsort(t, 1, 1);
    end(2);
    EXPECT(a, up, 6);
    EXPECT(b, down, 6);
    close_device();
}

// k of short rows, of long ones by the last key's digits, and of few very long ones by sorting.
TEST(topk) {
    static const int k[] = {1, 5, 100, 7, 33, 1, 900, 3000};
    enum { CASES = 8 };
    REQUIRE(open_device());
    given *g[CASES] = {give(3, 5, TC_F32, tied),      give(2, 40, TC_I64, tied),
                       give(2, 100, TC_F64, tied),    give(2, 9001, TC_F32, tied),
                       give(1, 5000, TC_F64, spread), give(2, 6000, TC_I32, tied),
                       give(1, 7000, TC_F32, spread), give(1, 9000, TC_I32, spread)};
    tc_tensor at[CASES], values[CASES];
    tc_trace_begin(tc, "topk");
    for (int i = 0; i < CASES; i++)
        CHECK_EQ(tc_topk(g[i]->t, k[i], 1, i % 2, &values[i], &at[i]), TC_OK);
    CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
    for (int i = 0; i < CASES; i++) expect_order(g[i], i % 2, k[i], at[i], values[i]);
    close_device();
}

// ---- scatters ----

typedef enum how { SET, ADD } how;

// The element of a row that an index means.
static int place_of(double index, int n) { return (int)(index < 0 ? index + n : index); }

// `a + b` of the dtype: integers wrap, floats are rounded each time.
static double sum_of(int dtype, double a, double b) {
    int64_t i = dtype < TC_F16 ? (int64_t)(a + b) : 0;
    if (dtype == TC_U8) return (double)(uint8_t)i;
    if (dtype == TC_I8) return (double)(int8_t)i;
    if (dtype == TC_I16) return (double)(int16_t)i;
    return dtype == TC_F32 ? (double)((float)a + (float)b) : a + b;
}

// x with what src has for index; of rows that there are. shared: one row of the index for all.
static double *scatter(const given *x, const given *index, const given *src, how h,
                       int shared) {
    size_t n = (size_t)x->rows * (size_t)x->n;
    double *want = (double *)calloc(n + 1, sizeof *want);
    memcpy(want, x->x, n * sizeof *want);
    for (int r = 0; r < src->rows; r++)
        for (int j = 0; j < src->n; j++) {
            int at = place_of(index->x[(shared ? 0 : r) * src->n + j], x->n);
            double v = src->x[r * src->n + j], *to = &want[r * x->n + at];
            *to = h == ADD ? sum_of(x->dtype, *to, v) : v;
        }
    return want;
}

static int index_limit; // of `index_value`
static double index_value(int dtype, int i) {
    (void)dtype, (void)i;
    return (double)(any() % (unsigned)(2 * index_limit)) - index_limit;
}

static given *give_index(int rows, int m, int dtype, int limit) {
    index_limit = limit;
    return give(rows, m, dtype, index_value);
}

static const int scatter_dtypes[] = {TC_U8,  TC_I8,  TC_I16,  TC_I32,  TC_I64,
                                     TC_F32, TC_F64, TC_BOOL, TC_BF16, TC_F16};
enum { SCATTERS = sizeof scatter_dtypes / sizeof *scatter_dtypes };

static double truth(int dtype, int i) { return small(dtype, i) > 0; }

// Many elements for each place; rows of the index are fewer than those of the tensor.
static void scatters(how h) {
    given *x[SCATTERS], *index[SCATTERS], *src[SCATTERS];
    tc_tensor y[SCATTERS];
    int count = h == ADD ? SCATTERS - 3 : SCATTERS;
    REQUIRE(open_device());
    for (int i = 0; i < count; i++) {
        int dtype = scatter_dtypes[i], n = 3 + 5 * i, m = 1 + 13 * i;
        x[i] = give(4, n, dtype, dtype == TC_BOOL ? truth : small);
        index[i] = give_index(4 - i % 3, m, i % 2 ? TC_I32 : TC_I64, n);
        src[i] = give(4 - i % 3, m, dtype, dtype == TC_BOOL ? truth : fraction);
    }
    begin("scatters");
    for (int i = 0; i < count; i++)
        y[i] = h == ADD ? tc_scatter_add(x[i]->t, 1, index[i]->t, src[i]->t)
                        : tc_scatter(x[i]->t, 1, index[i]->t, src[i]->t);
    end(2 * count);
    for (int i = 0; i < count; i++) {
        double *want = scatter(x[i], index[i], src[i], h, 0);
        EXPECT(y[i], want, (int64_t)x[i]->rows * x[i]->n);
        free(want);
    }
    close_device();
}

TEST(scatter) { scatters(SET); }
TEST(scatter_add) { scatters(ADD); }

// Sorted by digits: of 2 bytes and of 3; runs that a warp adds.
TEST(scatter_add_of_many) {
    REQUIRE(open_device());
    given *x[4] = {give(2, 1000, TC_F32, fraction), give(1, 70000, TC_F64, fraction),
                   give(2, 3, TC_F32, fraction), give(1, 1, TC_I8, small)};
    given *index[4] = {give_index(2, 9000, TC_I64, 1000),
                       give_index(1, 5000, TC_I32, 70000), give_index(2, 700, TC_I64, 3),
                       give_index(1, 300, TC_I64, 1)};
    given *src[4] = {give(2, 9000, TC_F32, fraction), give(1, 5000, TC_F64, fraction),
                     give(2, 700, TC_F32, fraction), give(1, 300, TC_I8, small)};
    tc_tensor y[4];
    for (int run = 0; run < 2; run++) { // the second finds the workspace as the first did
        begin("many");
        for (int i = 0; i < 4; i++)
            y[i] = tc_scatter_add(x[i]->t, 1, index[i]->t, src[i]->t);
        end(5 + 6 + 2 + 2);
        for (int i = 0; i < 4; i++) {
            double *want = scatter(x[i], index[i], src[i], ADD, 0);
            EXPECT(y[i], want, (int64_t)x[i]->rows * x[i]->n);
            free(want);
        }
    }
    close_device();
}

TEST(index_add) {
    static const int dtypes[] = {TC_F32, TC_F64, TC_I64, TC_U8, TC_F32};
    static const int sizes[][3] = {
        {1, 9, 40}, {8, 5, 3}, {19, 12, 70}, {9, 300, 1}, {3, 50, 5000}};
    enum { CASES = 5 };
    given *x[CASES], *index[CASES], *src[CASES];
    tc_tensor y[CASES];
    REQUIRE(open_device());
    for (int i = 0; i < CASES; i++) {
        int rows = sizes[i][0], n = sizes[i][1], m = sizes[i][2];
        x[i] = give(rows, n, dtypes[i], fraction);
        index[i] = give_index(1, m, i % 2 ? TC_I32 : TC_I64, n);
        src[i] = give(rows, m, dtypes[i], dtypes[i] == TC_U8 ? small : fraction);
    }
    begin("adds");
    for (int i = 0; i < CASES; i++)
        y[i] = tc_index_add(x[i]->t, 1, tc_reshape(index[i]->t, TC_DIMS(sizes[i][2])),
                            src[i]->t);
    end(2 * (CASES - 1) + 5);
    for (int i = 0; i < CASES; i++) {
        double *want = scatter(x[i], index[i], src[i], ADD, 1);
        EXPECT(y[i], want, (int64_t)x[i]->rows * x[i]->n);
        free(want);
    }
    close_device();
}

// The gradient of a table: to what it has of another product, rows of src are added in their order.
TEST(rows_are_added) {
    static const int dtypes[] = {TC_F32, TC_F64, TC_F32, TC_F32, TC_F32};
    static const int sizes[][3] = {
        {9, 40, 3}, {300, 17, 5000}, {5, 768, 100}, {33, 64, 40}, {40, 70, 9000}};
    enum { CASES = 5 };
    given *x[CASES], *index[CASES], *src[CASES], *y[CASES];
    tc_tensor g[CASES];
    REQUIRE(open_device());
    for (int i = 0; i < CASES; i++) {
        int n = sizes[i][0], width = sizes[i][1], m = sizes[i][2];
        x[i] = give(n, width, dtypes[i], fraction);
        y[i] = give(n, width, dtypes[i], fraction);
        index[i] = give_index(1, m, i % 2 ? TC_I32 : TC_I64, n);
        src[i] = give(m, width, dtypes[i], fraction);
    }
    begin("rows");
    for (int i = 0; i < CASES; i++) {
        tc_tensor at = tc_reshape(index[i]->t, TC_DIMS(sizes[i][2]));
        tc_tensor taken = tc_sum_all(tc_mul(tc_take(x[i]->t, at, 0), src[i]->t));
        tc_tensor loss = tc_add(taken, tc_sum_all(tc_mul(x[i]->t, y[i]->t)));
        CHECK_EQ(tc_grad(loss, &x[i]->t, 1, &g[i]), TC_OK);
    }
    end(3 * CASES + 2 * CASES); // copied, indices ranked, rows added; losses
    for (int i = 0; i < CASES; i++) {
        int width = sizes[i][1];
        for (int j = 0; j < sizes[i][2]; j++)
            for (int c = 0; c < width; c++) {
                double *to = &y[i]->x[place_of(index[i]->x[j], sizes[i][0]) * width + c];
                *to = sum_of(dtypes[i], *to, src[i]->x[j * width + c]);
            }
        EXPECT(g[i], y[i]->x, (int64_t)sizes[i][0] * width);
    }
    close_device();
}

// Rows of whatever bytes; runs that end in a span of indices, go through several, and are all there is; more rows than are
// counted at once; more indices than are ranked, which are sorted by digits.
static const struct {
    int dtype, n, width, m, named; // the first `named` rows
} kinds[] = {{TC_U8, 40, 33, 500, 40},         {TC_I8, 9, 64, 1000, 1},
             {TC_I16, 700, 70, 1100, 700},     {TC_I16, 12, 35, 31, 12},
             {TC_I32, 3, 130, 1537, 3},        {TC_I64, 50, 36, 385, 50},
             {TC_F64, 20, 48, 33, 20},         {TC_F32, 1, 257, 800, 1},
             {TC_F32, 250000, 16, 90, 250000}, {TC_F32, 2000, 44, 2100, 2000},
             {TC_F32, 6, 40, 17000, 6},        {TC_F32, 6, 32, 1, 6}};
enum { KINDS = sizeof kinds / sizeof *kinds };

// The number that a table is of, where it is one.
static double all_over(int i) {
    int dtype = kinds[i].dtype;
    if (i % 3 == 2) return 0;
    return dtype == TC_F32 || dtype == TC_F64 ? -0.375 : dtype == TC_U8 ? 250 : -5;
}

// What is added to is copied where it is the user's, and else in place; one number all over is in no memory before.
static void check_kinds(int filled) {
    tc_tensor y[KINDS];
    given *x[KINDS], *index[KINDS], *src[KINDS];
    REQUIRE(open_device());
    for (int i = 0; i < KINDS; i++) {
        double (*value)(int, int) =
            kinds[i].dtype == TC_F32 || kinds[i].dtype == TC_F64 ? fraction : small;
        x[i] = give(kinds[i].n, kinds[i].width, kinds[i].dtype, value);
        index[i] = give_index(1, kinds[i].m, i % 2 ? TC_I32 : TC_I64, kinds[i].named);
        src[i] = give(kinds[i].m, kinds[i].width, kinds[i].dtype, value);
    }
    begin(filled ? "filled" : "kinds");
    for (int i = 0; i < KINDS; i++) {
        tc_tensor to = filled ? tc_full_like(x[i]->t, all_over(i)) : x[i]->t;
        y[i] = tc_index_add(to, 0, tc_reshape(index[i]->t, TC_DIMS(kinds[i].m)), src[i]->t);
    }
    // copied, or filled meanwhile, ranked, added; sorted by two digits
    end((filled ? 2 : 3) * (KINDS - 1) + 6);
    for (int i = 0; i < KINDS; i++) {
        int width = kinds[i].width, numel = kinds[i].n * width;
        for (int k = 0; filled && k < numel; k++) x[i]->x[k] = all_over(i);
        for (int j = 0; j < kinds[i].m; j++)
            for (int c = 0; c < width; c++) {
                double *to = &x[i]->x[place_of(index[i]->x[j], kinds[i].n) * width + c];
                *to = sum_of(kinds[i].dtype, *to, src[i]->x[j * width + c]);
            }
        EXPECT(y[i], x[i]->x, (int64_t)numel);
    }
    close_device();
}

TEST(rows_of_all_kinds_are_added) { check_kinds(0); }
TEST(rows_are_added_to_one_number) { check_kinds(1); }

// Three dimensions, an index that is smaller in each: [4, 5, 6] by [3, 4, 7].
TEST(parts_of_tensors) {
    enum { N = 4 * 5 * 6, PART = 3 * 4 * 7 };
    double set[N], sum[N];
    REQUIRE(open_device());
    given *x = give(20, 6, TC_F32, fraction), *index = give_index(12, 7, TC_I64, 6),
          *src = give(12, 7, TC_F32, fraction);
    begin("parts");
    tc_tensor a = tc_reshape(x->t, TC_DIMS(4, 5, 6)),
              b = tc_reshape(index->t, TC_DIMS(3, 4, 7)),
              c = tc_reshape(src->t, TC_DIMS(3, 4, 7));
    tc_tensor y = tc_scatter(a, 2, b, c), z = tc_scatter_add(a, 2, b, c);
    end(4);
    memcpy(set, x->x, sizeof set), memcpy(sum, x->x, sizeof sum);
    for (int i = 0; i < PART; i++) {
        int row = i / 28 * 5 + i / 7 % 4, at = row * 6 + place_of(index->x[i], 6);
        set[at] = src->x[i];
        sum[at] = sum_of(TC_F32, sum[at], src->x[i]);
    }
    EXPECT(y, set, N);
    EXPECT(z, sum, N);
    close_device();
}

TEST(nothing_to_scatter) {
    static const float none[1] = {0};
    static const int64_t no_index[1] = {0};
    REQUIRE(open_device());
    given *x = give(3, 5, TC_F32, tied);
    tc_tensor index = tc_to(tc_from_data(tc, no_index, TC_DIMS(3, 0), TC_I64), "cuda:0"),
              src = tc_to(tc_from_data(tc, none, TC_DIMS(3, 0), TC_F32), "cuda:0");
    begin("nothing");
    tc_tensor y = tc_scatter(x->t, 1, index, src), z = tc_scatter_add(x->t, 1, index, src);
    end(2);
    EXPECT(y, x->x, 15);
    EXPECT(z, x->x, 15);
    close_device();
}

// An index out of range is told when somebody waits for the device.
TEST(index_out_of_range) {
    static const int64_t bad[] = {0, 5, -6, 2};
    static const int64_t good[] = {0, 4, -5, 2};
    REQUIRE(open_device());
    given *x = give(1, 5, TC_F32, fraction), *src = give(1, 4, TC_F32, fraction);
    for (int op = 0; op < 3; op++)
        for (int turn = 0; turn < 2; turn++) {
            tc_tensor i =
                tc_to(tc_from_data(tc, turn ? good : bad, TC_DIMS(1, 4), TC_I64), "cuda:0");
            tc_trace_begin(tc, op == 0 ? "set" : op == 1 ? "add" : "index");
            tc_tensor y = op == 0 ? tc_scatter(x->t, 1, i, src->t)
                          : op == 1
                              ? tc_scatter_add(x->t, 1, i, src->t)
                              : tc_index_add(x->t, 1, tc_reshape(i, TC_DIMS(4)), src->t);
            (void)y;
            tc_status s = tc_trace_end(tc);
            if (!s) s = tc_sync(tc);
            CHECK_EQ(s, turn ? TC_OK : TC_E_INDEX);
            if (turn) continue;
            CHECK(strstr(tc_error_text(tc), "is out of range for size 5") ||
                  FAIL("%s", tc_error_text(tc)));
            CHECK(strstr(tc_error_text(tc), op == 0   ? "scatter ("
                                            : op == 1 ? "scatter_add ("
                                                      : "index_add (") ||
                  FAIL("%s", tc_error_text(tc)));
            tc_error_clear(tc);
        }
    close_device();
}

// ---- sizes at run time ----

// One program for all: rows that fit in a block, and that do not.
TEST(sizes_at_run_time) {
    static const int sizes[] = {37, 1, 4096, 9000, 513, 20000};
    uint64_t compiles = 0;
    REQUIRE(open_device());
    for (int run = 0; run < 6; run++) {
        int n = sizes[run];
        given *x = give(2, n, TC_F32, tied), *a = give(2, n, TC_I64, small),
              *index = give_index(2, n, TC_I32, 5), *src = give(2, n, TC_F64, fraction),
              *to = give(2, 5, TC_F64, fraction), *from = give(2, n, TC_F32, fraction);
        given *first = give(2, n, TC_I64, zero);
        tc_tensor at, top, sums, added, set, values;
        given *g[] = {x, a, index, src, from, first};
        for (int i = 0; i < 6; i++) CHECK_EQ(tc_mark_dynamic(g[i]->t, 1, 0, 0), TC_OK);
        tc_trace_begin(tc, "sizes");
        at = tc_argsort(x->t, 1, 1);
        sums = tc_cumsum(a->t, 1);
        CHECK_EQ(tc_topk(a->t, 1, 1, 0, &values, &top), TC_OK);
        added = tc_scatter_add(to->t, 1, index->t, src->t);
        set = tc_scatter(from->t, 1, first->t, from->t);
        CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
        expect_order(x, 1, n, at, (tc_tensor){0});
        double *want = scan(a, 0), *sum = scatter(to, index, src, ADD, 0);
        EXPECT(sums, want, 2 * n);
        EXPECT(added, sum, 10);
        expect_order(a, 0, 1, top, values);
        for (int i = 0; i < 2 * n; i++) // all went to the first place of the row
            want[i] = i % n ? from->x[i] : from->x[i + n - 1];
        EXPECT(set, want, 2 * n);
        free(want);
        free(sum);
        if (run == 1) compiles = tc_stats_get(tc).compiles;
        if (run > 1) CHECK_EQ(tc_stats_get(tc).compiles, compiles);
    }
    close_device();
}

// Rows whose number and length both come at run time.
TEST(scans_of_unknown_sizes) {
    static const int sizes[][2] = {{3, 50}, {2, 20000}, {70, 7}, {1, 1}};
    REQUIRE(open_device());
    for (int run = 0; run < 4; run++) {
        given *x = give(sizes[run][0], sizes[run][1], TC_F64, small);
        CHECK_EQ(tc_mark_dynamic(x->t, 0, 0, 0), TC_OK);
        CHECK_EQ(tc_mark_dynamic(x->t, 1, 0, 0), TC_OK);
        begin("unknown");
        tc_tensor y = tc_cumsum(x->t, 1);
        end(2);
        double *want = scan(x, 0);
        EXPECT(y, want, (int64_t)x->rows * x->n);
        free(want);
    }
    close_device();
}
