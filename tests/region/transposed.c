// Transposed convolutions, and what the image of a convolution counts: bits of the sums in their order, one fused
// multiply-add for each element of x that counts for a result, from the first place on; eager, interpreted, and
// compiled for this CPU and for older ones. Infinities of x stay where they count.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { MOST = 1 << 17 };

// Axes in the order of memory; of images without a depth the first is of one element, and no axis of the call.
typedef struct shape {
    int axes, batch, channels, results, groups;
    int size[3], taps[3], stride[3], pad[3], dilation[3], more[3];
} shape;

enum { TWO = 2, DEEP = 3 };
// clang-format off
static const shape shapes[] = {
    {TWO, 1, 3, 4, 1, {1, 7, 5}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}},
    {TWO, 2, 16, 12, 1, {1, 9, 8}, {1, 4, 4}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}}, // the usual one of generators
    {TWO, 1, 24, 20, 1, {1, 14, 16}, {1, 2, 2}, {1, 2, 2}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}}, //   of U-nets
    {TWO, 1, 20, 18, 1, {1, 13, 12}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, {0, 1, 1}}, // phases of two taps and of one
    {TWO, 2, 6, 9, 3, {1, 5, 7}, {1, 5, 4}, {1, 3, 2}, {0, 2, 1}, {1, 1, 1}, {0, 2, 0}}, // groups, phases of other numbers
    {TWO, 1, 8, 8, 8, {1, 6, 5}, {1, 3, 3}, {1, 2, 2}, {0, 1, 0}, {1, 1, 1}, {0, 0, 1}}, // by channel
    {TWO, 1, 3, 5, 1, {1, 4, 6}, {1, 1, 2}, {1, 3, 4}, {0, 0, 1}, {1, 1, 1}, {0, 2, 3}}, // phases without a tap
    {TWO, 1, 4, 3, 1, {1, 5, 6}, {1, 3, 2}, {1, 1, 1}, {0, 2, 1}, {1, 2, 3}, {0, 0, 0}}, // taps that are apart,
    {TWO, 2, 5, 6, 1, {1, 4, 5}, {1, 3, 2}, {1, 2, 3}, {0, 1, 2}, {1, 3, 2}, {0, 2, 1}}, //   and elements as well,
    {TWO, 1, 5, 6, 1, {1, 4, 5}, {1, 3, 3}, {1, 2, 1}, {0, 0, 3}, {1, 1, 2}, {0, 1, 1}}, //   of one axis
    {TWO, 3, 2, 6, 2, {1, 1, 1}, {1, 5, 5}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}}, // of one element,
    {TWO, 2, 4, 6, 2, {1, 1, 1}, {1, 4, 3}, {1, 2, 3}, {0, 1, 3}, {1, 2, 5}, {0, 1, 4}}, //   with taps that are apart,
    {TWO, 2, 7, 9, 1, {1, 1, 6}, {1, 4, 4}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}}, //   along an axis
    {TWO, 1, 2, 2, 1, {1, 3, 4}, {1, 5, 5}, {1, 2, 2}, {0, 4, 4}, {1, 1, 1}, {0, 1, 0}}, // little is left
    {TWO, 2, 5, 9, 1, {1, 5, 6}, {1, 3, 3}, {1, 2, 4}, {0, 1, 3}, {1, 2, 6}, {0, 1, 3}}, // every second result is zeros
    {TWO, 1, 3, 8, 1, {1, 2, 7}, {1, 1, 3}, {1, 2, 3}, {0, 1, 0}, {1, 2, 3}, {0, 0, 2}}, // a row between them
    {TWO, 2, 12, 10, 1, {1, 7, 9}, {1, 3, 5}, {1, 3, 5}, {0, 0, 1}, {1, 1, 1}, {0, 2, 3}}, // three and five phases
    {TWO, 1, 6, 24, 2, {1, 2, 3}, {1, 4, 4}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}}, // few places, many results
    {TWO, 1, 16, 24, 4, {1, 6, 27}, {1, 7, 3}, {1, 2, 2}, {0, 3, 1}, {1, 1, 1}, {0, 1, 0}}, // groups of few
    {TWO, 1, 3, 4, 1, {1, 1, 1}, {1, 2, 2}, {1, 2, 2}, {0, 0, 0}, {1, 1, 1}, {0, 1, 1}}, // one element, places more than taps,
    {TWO, 1, 3, 4, 1, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {1, 2, 2}, {0, 0, 0}}, //   that meets no result,
    {TWO, 2, 3, 4, 1, {1, 1, 1}, {1, 1, 1}, {1, 3, 3}, {0, 1, 1}, {1, 1, 1}, {0, 2, 2}}, //   of one tap
    {TWO, 1, 3, 4, 1, {1, 1, 3}, {1, 1, 1}, {1, 5, 5}, {0, 2, 2}, {1, 1, 1}, {0, 4, 4}}, // a row that nothing counts for
    {TWO, 1, 3, 4, 1, {1, 2, 2}, {1, 1, 2}, {1, 1, 1}, {0, 3, 3}, {1, 7, 7}, {0, 6, 6}},
    {TWO, 1, 6, 18, 1, {1, 7, 8}, {1, 8, 5}, {1, 3, 3}, {0, 2, 2}, {1, 1, 1}, {0, 0, 1}}, // the shorter phases first
    {DEEP, 1, 3, 4, 1, {3, 4, 5}, {3, 3, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}},
    {DEEP, 2, 9, 10, 1, {3, 5, 4}, {4, 4, 4}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}},
    {DEEP, 1, 6, 9, 3, {4, 3, 5}, {3, 2, 5}, {2, 1, 3}, {1, 0, 2}, {1, 2, 1}, {1, 0, 2}}, // each axis otherwise
    {DEEP, 1, 4, 6, 2, {3, 2, 4}, {2, 3, 1}, {2, 4, 3}, {0, 1, 0}, {2, 6, 1}, {1, 3, 2}},
    {DEEP, 2, 6, 5, 1, {1, 1, 1}, {2, 3, 4}, {1, 2, 1}, {0, 1, 0}, {1, 1, 3}, {0, 1, 2}}, // of one element
};
// clang-format on
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int out_of(const shape *s, int i) {
    return (s->size[i] - 1) * s->stride[i] - 2 * s->pad[i] +
           s->dilation[i] * (s->taps[i] - 1) + s->more[i] + 1;
}

static int product(const int *n) { return n[0] * n[1] * n[2]; }

// The element of axis i that meets result `to` by a tap; -1 = none.
static int element_of(const shape *s, int i, int tap, int to) {
    int far = to + s->pad[i] - tap * s->dilation[i], step = s->stride[i];
    return far >= 0 && far % step == 0 && far / step < s->size[i] ? far / step : -1;
}

// From the first place on, which is from the last tap on.
static float expected(const shape *s, const float *x, const float *w, int image, int result,
                      const int *at) {
    int c = s->channels / s->groups, o = s->results / s->groups, g = result / o;
    int taps = product(s->taps), n = product(s->size);
    float sum = 0;
    for (int i = g * c; i < (g + 1) * c; i++)
        for (int k = taps - 1; k >= 0; k--) {
            int y = element_of(s, 0, k / (s->taps[1] * s->taps[2]), at[0]);
            int u = element_of(s, 1, k / s->taps[2] % s->taps[1], at[1]);
            int v = element_of(s, 2, k % s->taps[2], at[2]);
            if (y < 0 || u < 0 || v < 0) continue;
            int place = (y * s->size[1] + u) * s->size[2] + v;
            sum = fmaf(w[(i * o + result % o) * taps + k],
                       x[(image * s->channels + i) * n + place], sum);
        }
    return sum;
}

static int same(float a, float b) { return a == b || (a != a && b != b); }

// `most`: how far sums in another order may be; 0 = bits.
static void check_result(const shape *s, const float *x, const float *w, const float *bias,
                         tc_tensor y, float *got, double most, const char *how) {
    int out[3] = {out_of(s, 0), out_of(s, 1), out_of(s, 2)}, wrong = 0;
    int all = s->batch * s->results * product(out), first = 3 - s->axes;
    CHECK_EQ(tc_rank(y), 2 + s->axes);
    CHECK_EQ(tc_dim(y, 0), s->batch), CHECK_EQ(tc_dim(y, 1), s->results);
    for (int i = first; i < 3; i++) CHECK_EQ(tc_dim(y, 2 + i - first), out[i]);
    REQUIRE(all <= MOST);
    CHECK_EQ(tc_read(y, got, sizeof *got * (size_t)all), TC_OK);
    for (int i = 0; i < all; i++) {
        int at[3] = {i / (out[1] * out[2]) % out[0], i / out[2] % out[1], i % out[2]};
        int o = i / product(out) % s->results, image = i / product(out) / s->results;
        float want = expected(s, x, w, image, o, at) + (bias ? bias[o] : 0);
        wrong +=
            most > 0 ? !(fabs((double)got[i] - (double)want) <= most) : !same(got[i], want);
    }
    if (wrong) FAIL("%s: %d of shape %d are wrong", how, wrong, (int)(s - shapes));
}

static tc_conv_options options_of(const shape *s) {
    tc_conv_options o;
    int first = 3 - s->axes;
    memset(&o, 0, sizeof o);
    for (int i = first; i < 3; i++) {
        o.stride[i - first] = s->stride[i], o.padding[i - first] = s->pad[i];
        o.dilation[i - first] = s->dilation[i], o.output_padding[i - first] = s->more[i];
    }
    o.groups = s->groups;
    return o;
}

static tc_tensor image_of(tc_ctx *tc, const shape *s, const float *x, int batch,
                          int channels, const int *n) {
    tc_dims d = TC_DIMS(batch, channels, n[0], n[1], n[2]);
    if (s->axes == 2) d = TC_DIMS(batch, channels, n[1], n[2]);
    return x ? tc_from_data(tc, x, d, TC_F32) : tc_zeros(tc, d, TC_F32);
}

static tc_tensor call(const shape *s, tc_tensor x, tc_tensor w, tc_tensor bias) {
    tc_conv_options with = options_of(s);
    return s->axes == 2 ? tc_conv_transpose2d_with(x, w, bias, &with)
                        : tc_conv_transpose3d_with(x, w, bias, &with);
}

// Each shape has regions of its own: after others it would have run-time sizes.
static const char *named(const shape *s, const char *what) {
    static char name[60];
    snprintf(name, sizeof name, "%s %d", what, (int)(s - shapes));
    return name;
}

// What the image of a convolution counts, whose result counts x. That of few channels is summed over columns, or by taps.
static void run_image(tc_ctx *tc, const shape *s, const float *x, const float *w,
                      tc_tensor tx, tc_tensor tw, float *got) {
    tc_conv_options with = options_of(s);
    int out[3], few = s->channels > 4 * s->results || s->groups == s->results;
    for (int i = 0; i < 3; i++) {
        with.output_padding[i] = 0, out[i] = out_of(s, i);
        if (s->more[i] >= s->stride[i]) return; // the convolution would have more results
    }
    tc_tensor image = image_of(tc, s, NULL, s->batch, s->results, out), counts;
    tc_trace_begin(tc, named(s, "image"));
    tc_tensor y = s->axes == 2 ? tc_conv2d_with(image, tw, tc_null(), &with)
                               : tc_conv3d_with(image, tw, tc_null(), &with);
    CHECK_EQ(tc_vjp(y, tx, &image, 1, &counts), TC_OK);
    tc_keep(counts);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    check_result(s, x, w, NULL, counts, got, few || s->axes == 3 ? 1e-4 : 0, "image");
    tc_free(counts), tc_free(image);
}

static void run_shape(tc_ctx *tc, const shape *s, int infinite, float *x, float *w,
                      float *got) {
    int n = s->batch * s->channels * product(s->size), o = s->results / s->groups;
    int m = s->channels * o * product(s->taps);
    float bias[32];
    REQUIRE(n <= MOST && m <= MOST && s->results <= 32);
    for (int i = 0; i < n; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < m; i++) w[i] = (float)test_number((unsigned)i, 2);
    for (int i = 0; i < s->results; i++) bias[i] = (float)test_number((unsigned)i, 3);
    if (infinite) x[0] = NAN, x[n - 1] = -INFINITY, x[n / 2] = INFINITY;
    tc_tensor tx = image_of(tc, s, x, s->batch, s->channels, s->size);
    tc_tensor tw = image_of(tc, s, w, s->channels, o, s->taps);
    tc_tensor tb = tc_from_data(tc, bias, TC_DIMS(s->results), TC_F32);
    check_result(s, x, w, bias, call(s, tx, tw, tb), got, 0, "eager");
    tc_trace_begin(tc, named(s, infinite ? "alone" : "with a bias and more"));
    tc_tensor y = infinite ? call(s, tx, tw, tc_null())
                           : tc_relu(call(s, tc_neg(tc_neg(tx)), tw, tb));
    if (!infinite) y = tc_sub(y, tc_relu(tc_neg(call(s, tx, tw, tb))));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    check_result(s, x, w, infinite ? NULL : bias, y, got, 0, "traced");
    if (!infinite) run_image(tc, s, x, w, tx, tw, got);
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

// ---- the other calls, and x without a batch ----

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
    y = tc_conv_transpose3d(tc_reshape(tx, TC_DIMS(1, 3, 1, 1)),
                            tc_reshape(tw, TC_DIMS(1, 2, 3, 1, 1)), tc_null(), 2, 0, 0, 1,
                            1);
    CHECK_EQ(tc_rank(y), 4), CHECK_EQ(tc_dim(y, 0), 2), CHECK_EQ(tc_dim(y, 1), 7);
    CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
    CHECK(!memcmp(got, want, sizeof got));
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

// Of -1, 0 and 1, so that all dtypes have the sums.
TEST(other_dtypes) {
    static const int dtypes[] = {TC_F64, TC_I32, TC_I64, TC_F16, TC_BF16};
    static float x[MOST], w[MOST], got[MOST];
    for (int i = 0; i < MOST; i++) x[i] = (float)(int)(test_number((unsigned)i, 1) * 1.9);
    for (int i = 0; i < MOST; i++) w[i] = (float)(int)(test_number((unsigned)i, 2) * 1.9);
    tc_ctx *tc = tc_open(NULL);
    for (size_t d = 0; d < 2 * sizeof dtypes / sizeof *dtypes; d++) {
        const shape *s = &shapes[d % 2 ? 16 : 3];
        int dtype = dtypes[d / 2];
        tc_tensor tx = image_of(tc, s, x, s->batch, s->channels, s->size);
        tc_tensor tw = image_of(tc, s, w, s->channels, s->results, s->taps);
        tc_trace_begin(tc, named(s, tc_dtype_name((tc_dtype)dtype)));
        tc_tensor y =
            call(s, tc_cast(tx, (tc_dtype)dtype), tc_cast(tw, (tc_dtype)dtype), tc_null());
        CHECK_EQ(tc_dtype_of(y), dtype);
        y = tc_to_f32(y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        check_result(s, x, w, NULL, y, got, 0, tc_dtype_name((tc_dtype)dtype));
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
    tc_tensor tw = image_of(tc, &s, w, s.channels, s.results, s.taps);
    for (int i = 0; i < 5; i++) {
        s.batch = 2, s.size[1] = 6 + 3 * i, s.size[2] = 9 + i;
        tc_scope_begin(tc);
        tc_tensor tx = image_of(tc, &s, x, s.batch, s.channels, s.size);
        tc_trace_begin(tc, "sizes");
        tc_tensor y = call(&s, tx, tw, tc_null());
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        check_result(&s, x, w, NULL, y, got, 0, "of another size");
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
        // Phases of three taps have as many places each, and are woven as they are read.
        CHECK(taps != 3 || (!strstr(code, "columns 289") && !strstr(code, "kernel_7(")));
        CHECK(!strstr(strstr(code, "TC_KERNEL void"), "for (int l = 0;"));
    }
    // So are three phases, and rows that are no whole vectors; places of short rows are a list.
    for (int i = 0; i < 3; i++) {
        const char *name = i == 0 ? "three phases" : i == 1 ? "odd rows" : "short rows";
        tc_tensor w = tc_ones(tc, TC_DIMS(32, 32, 3, 3), TC_F32);
        tc_tensor image = i == 2 ? tc_ones(tc, TC_DIMS(1, 32, 4, 4), TC_F32) : x;
        tc_trace_begin(tc, name);
        (void)tc_conv_transpose2d(image, w, tc_null(), i == 1 ? 2 : 3, i == 1, 0, 1, 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        const char *code = tc_region_source(tc, name);
        REQUIRE(code);
        CHECK(strstr(code, i == 0   ? "tc_zip3_f32(in"
                           : i == 1 ? "tc_zipn_f32(tc_or_none("
                                    : "static const tc_i32 to2["));
    }
    tc_close(tc);
}
