// Transposed convolutions: bits of the sums in their order, one fused multiply-add for each element of x that counts
// for a result, from the first row and column on; eager, interpreted, and compiled for this CPU and for older ones. Infinities
// of x stay where they count.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { MOST = 1 << 17 };

typedef struct shape {
    int batch, channels, high, wide, results, tall, broad;
    int stride[2], pad[2], dilation[2], more[2], groups;
} shape;

static const shape shapes[] = {
    {1, 3, 7, 5, 4, 3, 3, {1, 1}, {0, 0}, {1, 1}, {0, 0}, 1},
    {2,
     16,
     9,
     8,
     12,
     4,
     4,
     {2, 2},
     {1, 1},
     {1, 1},
     {0, 0},
     1}, // the usual one of generators
    {1, 24, 14, 16, 20, 2, 2, {2, 2}, {0, 0}, {1, 1}, {0, 0}, 1}, //   of U-nets
    {1,
     20,
     13,
     12,
     18,
     3,
     3,
     {2, 2},
     {1, 1},
     {1, 1},
     {1, 1},
     1}, // phases of two taps and of one
    {2,
     6,
     5,
     7,
     9,
     5,
     4,
     {3, 2},
     {2, 1},
     {1, 1},
     {2, 0},
     3}, // groups, phases of other numbers
    {1, 8, 6, 5, 8, 3, 3, {2, 2}, {1, 0}, {1, 1}, {0, 1}, 8}, // by channel
    {1, 3, 4, 6, 5, 1, 2, {3, 4}, {0, 1}, {1, 1}, {2, 3}, 1}, // phases without a tap
    {1, 4, 5, 6, 3, 3, 2, {1, 1}, {2, 1}, {2, 3}, {0, 0}, 1}, // taps that are apart,
    {2, 5, 4, 5, 6, 3, 2, {2, 3}, {1, 2}, {3, 2}, {2, 1}, 1}, //   and elements as well
    {1, 5, 4, 5, 6, 3, 3, {2, 1}, {0, 3}, {1, 2}, {1, 1}, 1}, //   of one axis
    {3, 2, 1, 1, 6, 5, 5, {1, 1}, {0, 0}, {1, 1}, {0, 0}, 2}, // of one element
    {1, 2, 3, 4, 2, 5, 5, {2, 2}, {4, 4}, {1, 1}, {1, 0}, 1}, // little is left
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int out_of(const shape *s, int axis) {
    int in = axis ? s->wide : s->high, taps = axis ? s->broad : s->tall;
    return (in - 1) * s->stride[axis] - 2 * s->pad[axis] + s->dilation[axis] * (taps - 1) +
           s->more[axis] + 1;
}

// The element of an axis that meets result `to` by a tap; -1 = none.
static int element_of(const shape *s, int axis, int tap, int to) {
    int far = to + s->pad[axis] - tap * s->dilation[axis], step = s->stride[axis];
    return far >= 0 && far % step == 0 && far / step < (axis ? s->wide : s->high)
               ? far / step
               : -1;
}

// From the first row and column on, which is from the last tap on.
static float expected(const shape *s, const float *x, const float *w, int image, int result,
                      int row, int column) {
    int c = s->channels / s->groups, o = s->results / s->groups, g = result / o;
    float sum = 0;
    for (int i = g * c; i < (g + 1) * c; i++)
        for (int u = s->tall - 1; u >= 0; u--)
            for (int v = s->broad - 1; v >= 0; v--) {
                int y = element_of(s, 0, u, row), z = element_of(s, 1, v, column);
                if (y < 0 || z < 0) continue;
                sum = fmaf(w[((i * o + result % o) * s->tall + u) * s->broad + v],
                           x[((image * s->channels + i) * s->high + y) * s->wide + z], sum);
            }
    return sum;
}

static int same(float a, float b) { return a == b || (a != a && b != b); }

static void check_result(const shape *s, const float *x, const float *w, const float *bias,
                         tc_tensor y, float *got, const char *how) {
    int high = out_of(s, 0), wide = out_of(s, 1), wrong = 0;
    CHECK_EQ(tc_dim(y, 0), s->batch), CHECK_EQ(tc_dim(y, 1), s->results);
    CHECK_EQ(tc_dim(y, 2), high), CHECK_EQ(tc_dim(y, 3), wide);
    REQUIRE(s->batch * s->results * high * wide <= MOST);
    CHECK_EQ(tc_read(y, got, sizeof *got * (size_t)(s->batch * s->results * high * wide)),
             TC_OK);
    for (int image = 0, at = 0; image < s->batch; image++)
        for (int o = 0; o < s->results; o++)
            for (int row = 0; row < high; row++)
                for (int column = 0; column < wide; column++, at++) {
                    float want = expected(s, x, w, image, o, row, column);
                    wrong += !same(got[at], bias ? want + bias[o] : want);
                }
    if (wrong)
        FAIL("%s: %d of %dx%dx%dx%d to %dx%dx%d are wrong", how, wrong, s->batch,
             s->channels, s->high, s->wide, s->results, high, wide);
}

static tc_conv_options options_of(const shape *s) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 2; i++) {
        o.stride[i] = s->stride[i], o.padding[i] = s->pad[i];
        o.dilation[i] = s->dilation[i], o.output_padding[i] = s->more[i];
    }
    o.groups = s->groups;
    return o;
}

static void run_shape(tc_ctx *tc, const shape *s, int infinite, float *x, float *w,
                      float *got) {
    int n = s->batch * s->channels * s->high * s->wide, o = s->results / s->groups;
    int m = s->channels * o * s->tall * s->broad;
    float bias[32];
    REQUIRE(n <= MOST && m <= MOST && s->results <= 32);
    for (int i = 0; i < n; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < m; i++) w[i] = (float)test_number((unsigned)i, 2);
    for (int i = 0; i < s->results; i++) bias[i] = (float)test_number((unsigned)i, 3);
    if (infinite) x[0] = NAN, x[n - 1] = -INFINITY, x[n / 2] = INFINITY;
    tc_tensor tx =
        tc_from_data(tc, x, TC_DIMS(s->batch, s->channels, s->high, s->wide), TC_F32);
    tc_tensor tw = tc_from_data(tc, w, TC_DIMS(s->channels, o, s->tall, s->broad), TC_F32);
    tc_tensor tb = tc_from_data(tc, bias, TC_DIMS(s->results), TC_F32);
    tc_conv_options with = options_of(s);
    check_result(s, x, w, bias, tc_conv_transpose2d_with(tx, tw, tb, &with), got, "eager");
    tc_trace_begin(tc, "transposed");
    tc_tensor y = tc_conv_transpose2d_with(tx, tw, tc_null(), &with);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    check_result(s, x, w, NULL, y, got, "alone");
    tc_trace_begin(tc, "transposed, with a bias and more");
    y = tc_relu(tc_conv_transpose2d_with(tc_neg(tc_neg(tx)), tw, tb, &with));
    y = tc_sub(y, tc_relu(tc_neg(tc_conv_transpose2d_with(tx, tw, tb, &with))));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (!infinite) check_result(s, x, w, bias, y, got, "with a bias");
    tc_free(tx), tc_free(tw), tc_free(tb);
}

// Every `step`th shape.
static void run_all(const char *backend, const char *isa, int threads, size_t step) {
    float *x = (float *)malloc(3 * MOST * sizeof *x);
    tc_config config = tc_config_default();
    config.backend = backend, config.isa = isa, config.threads = threads;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(x && tc);
    for (size_t i = step - 1; i < SHAPES; i += step)
        for (int infinite = 0; infinite < 2; infinite++)
            run_shape(tc, &shapes[i], infinite, x, x + MOST, x + 2 * MOST);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    free(x);
}

TEST(interpreted) { run_all("aot_eager", NULL, 2, 1); }
TEST(compiled) { run_all("cpu", NULL, 2, 1); }
TEST(avx2) { run_all("cpu", "avx2", 1, 3); }
TEST(baseline) { run_all("cpu", "baseline", 2, 4); }

// ---- the other two calls, and x without a batch ----

TEST(other_forms) {
    static const float x[] = {1, 2, 3}, w[] = {1, 10, 100, 2, 20, 200};
    static const float want[2][7] = {{1, 10, 102, 20, 203, 30, 300},
                                     {2, 20, 204, 40, 406, 60, 600}};
    tc_ctx *tc = tc_open(NULL);
    float got[14];
    tc_tensor tx = tc_from_data(tc, x, TC_DIMS(1, 3), TC_F32);
    tc_tensor tw = tc_from_data(tc, w, TC_DIMS(1, 2, 3), TC_F32);
    tc_tensor y = tc_conv_transpose1d(tx, tw, tc_null(), 2, 0, 0, 1, 1);
    CHECK_EQ(tc_rank(y), 2), CHECK_EQ(tc_dim(y, 1), 7);
    CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
    CHECK(!memcmp(got, want, sizeof got));
    y = tc_conv_transpose1d(tc_unsqueeze(tx, 0), tw, tc_null(), 2, 1, 1, 1, 1);
    CHECK_EQ(tc_rank(y), 3), CHECK_EQ(tc_dim(y, 2), 6);
    CHECK_EQ(tc_read(y, got, 12 * sizeof *got), TC_OK);
    CHECK(!memcmp(got, want[0] + 1, 6 * sizeof *got));
    CHECK(!memcmp(got + 6, want[1] + 1, 6 * sizeof *got));
    y = tc_conv_transpose2d(tc_reshape(tx, TC_DIMS(1, 1, 3)),
                            tc_reshape(tw, TC_DIMS(1, 2, 1, 3)), tc_null(), 2, 0, 0, 1, 1);
    CHECK_EQ(tc_rank(y), 3), CHECK_EQ(tc_dim(y, 0), 2), CHECK_EQ(tc_dim(y, 1), 1);
    CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
    CHECK(!memcmp(got, want, sizeof got));
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// Of -1, 0 and 1, so that all dtypes have the sums.
TEST(other_dtypes) {
    static const int dtypes[] = {TC_F64, TC_I32, TC_I64, TC_F16, TC_BF16};
    const shape *s = &shapes[3];
    static float x[MOST], w[MOST], got[MOST];
    int64_t n = s->batch * s->channels * s->high * s->wide,
            m = s->channels * s->results * s->tall * s->broad;
    for (int i = 0; i < n; i++) x[i] = (float)(int)(test_number((unsigned)i, 1) * 1.9);
    for (int i = 0; i < m; i++) w[i] = (float)(int)(test_number((unsigned)i, 2) * 1.9);
    tc_ctx *tc = tc_open(NULL);
    tc_conv_options with = options_of(s);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        tc_tensor tx =
            tc_from_data(tc, x, TC_DIMS(s->batch, s->channels, s->high, s->wide), TC_F32);
        tc_tensor tw = tc_from_data(
            tc, w, TC_DIMS(s->channels, s->results, s->tall, s->broad), TC_F32);
        tc_trace_begin(tc, tc_dtype_name((tc_dtype)dtypes[d]));
        tc_tensor y =
            tc_conv_transpose2d_with(tc_cast(tx, (tc_dtype)dtypes[d]),
                                     tc_cast(tw, (tc_dtype)dtypes[d]), tc_null(), &with);
        CHECK_EQ(tc_dtype_of(y), dtypes[d]);
        y = tc_to_f32(y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        check_result(s, x, w, NULL, y, got, tc_dtype_name((tc_dtype)dtypes[d]));
    }
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

// Sizes at run time: the second and the third size share a program, with the bits of one's own.
TEST(sizes) {
    static float x[MOST], w[MOST], got[MOST];
    shape s = shapes[3];
    tc_ctx *tc = tc_open(NULL);
    for (int i = 0; i < MOST; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < MOST; i++) w[i] = (float)test_number((unsigned)i, 2);
    tc_conv_options with = options_of(&s);
    tc_tensor tw =
        tc_from_data(tc, w, TC_DIMS(s.channels, s.results, s.tall, s.broad), TC_F32);
    for (int i = 0; i < 5; i++) {
        s.batch = 2, s.high = 6 + 3 * i, s.wide = 9 + i;
        tc_scope_begin(tc);
        tc_tensor tx =
            tc_from_data(tc, x, TC_DIMS(s.batch, s.channels, s.high, s.wide), TC_F32);
        tc_trace_begin(tc, "sizes");
        tc_tensor y = tc_conv_transpose2d_with(tx, tw, tc_null(), &with);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        check_result(&s, x, w, NULL, y, got, "of another size");
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_explain_counts(tc, "sizes").programs, 2);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// ---- what it becomes ----

// Windows are read in place, rows are woven by vectors, and no element is asked for by itself.
TEST(forms) {
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = tc_ones(tc, TC_DIMS(1, 32, 16, 16), TC_F32);
    for (int taps = 2; taps <= 4; taps++) {
        const char *name = taps == 2 ? "two taps" : taps == 3 ? "three taps" : "four taps";
        tc_tensor w = tc_ones(tc, TC_DIMS(32, 32, taps, taps), TC_F32);
        tc_trace_begin(tc, name);
        tc_tensor y = tc_conv_transpose2d(x, w, tc_null(), 2, taps > 2, taps == 3, 1, 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_dim(y, 3), 32);
        const char *code = tc_region_source(tc, name);
        REQUIRE(code);
        CHECK(taps == 2 || strstr(code, "const tc_i32 *to"));
        CHECK(strstr(code, "tc_zip_f32("));
        CHECK(!strstr(strstr(code, "TC_KERNEL void"), "for (int l = 0;"));
    }
    tc_close(tc);
}
