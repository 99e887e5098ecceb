// Convolutions with many windows, which the CPU reads where they are: bits of the sums in their order, one fused
// multiply-add a step, also where weights are infinite and a border is zeros; interpreted, and compiled for
// this CPU and for older ones, by one thread and by several.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { MOST = 1 << 18 };

typedef struct shape {
    int batch, channels, high, wide, filters, tall, broad, stride, pad, dilation;
} shape;

static const shape shapes[] = {
    {1, 3, 32, 32, 16, 3, 3, 1, 1, 1},   // one slice, few rows
    {2, 40, 17, 23, 33, 3, 3, 1, 1, 1},  // batches, two slices, odd everything
    {1, 130, 12, 13, 70, 3, 3, 1, 1, 1}, // several blocks of rows
    {3, 5, 31, 18, 24, 5, 4, 2, 2, 1},   // steps
    {1, 6, 29, 31, 17, 3, 2, 1, 3, 2}, // holes, and a border wider than the image's overlap
    {1, 9, 26, 28, 20, 3, 3, 1, 0, 1}, // no border
    {1, 20, 10, 24, 40, 3, 3, 1, 1, 1},  // rows of vectors of 8, not of 16
    {4, 2, 9, 9, 64, 7, 7, 1, 3, 1},     // hardly a column has all of its window inside
    {1, 40, 7, 7, 200, 3, 3, 1, 1, 1},   // few windows: slices, blocks of rows
    {2, 30, 5, 6, 70, 3, 3, 1, 1, 1},    //   of two images, rows that fill no vector
    {1, 70, 9, 8, 64, 1, 1, 1, 1, 1},    //   of one element, with a border
    {1, 21, 9, 9, 130, 3, 2, 1, 0, 1},   //   without one
    {1, 3, 11, 12, 64, 5, 5, 2, 2, 1},   //   of one slice
    {1, 40, 14, 15, 128, 3, 3, 1, 1, 1}, // results that are whole panels
    {2, 21, 19, 12, 64, 3, 5, 2, 3, 1},  //   of a batch, in steps
    {1, 70, 7, 9, 192, 3, 3, 1, 1, 1},   //   of few windows
    {2, 33, 6, 7, 128, 2, 3, 1, 1, 2},   //
    {1, 250, 3, 3, 64, 3, 3, 1, 1,
     1}, // so few that they are packed, in slices of a long depth
    {1, 128, 21, 6, 64, 4, 4, 3, 1, 2}, //
};

static const struct {
    const char *backend, *isa;
    int threads;
} forms[] = {{"aot_eager", NULL, 2},
             {"cpu", NULL, 1},
             {"cpu", NULL, 3},
             {"cpu", "avx2", 2},
             {"cpu", "baseline", 2}};

static int out_of(int in, int taps, const shape *s) {
    return (in + 2 * s->pad - s->dilation * (taps - 1) - 1) / s->stride + 1;
}

// The input's element, 0 beyond it.
static float element(const shape *s, const float *x, int image, int channel, int row,
                     int column) {
    if (row < 0 || row >= s->high || column < 0 || column >= s->wide) return 0;
    return x[((image * s->channels + channel) * s->high + row) * s->wide + column];
}

// Element (row, column) of a filter's result.
static float expected(const shape *s, const float *x, const float *w, int image, int filter,
                      int row, int column) {
    float sum = 0;
    for (int c = 0; c < s->channels; c++)
        for (int i = 0; i < s->tall; i++)
            for (int j = 0; j < s->broad; j++)
                sum =
                    fmaf(w[((filter * s->channels + c) * s->tall + i) * s->broad + j],
                         element(s, x, image, c, row * s->stride - s->pad + i * s->dilation,
                                 column * s->stride - s->pad + j * s->dilation),
                         sum);
    return sum;
}

static int same(float a, float b) { return a == b || (a != a && b != b); }

static void check_result(const shape *s, const float *x, const float *w, const float *got,
                         const float *bias) {
    int high = out_of(s->high, s->tall, s), wide = out_of(s->wide, s->broad, s), wrong = 0;
    for (int image = 0, at = 0; image < s->batch; image++)
        for (int f = 0; f < s->filters; f++)
            for (int row = 0; row < high; row++)
                for (int column = 0; column < wide; column++, at++) {
                    float want = expected(s, x, w, image, f, row, column);
                    if (bias) want = want + bias[f] < 0 ? 0 : want + bias[f];
                    wrong += !same(got[at], want);
                }
    if (wrong)
        FAIL("%d of %dx%dx%dx%d by %dx%dx%d are wrong", wrong, s->batch, s->channels,
             s->high, s->wide, s->filters, s->tall, s->broad);
}

typedef enum what { FINITE, INFINITE, CONSTANT } what;

// By weights that are a tensor or, laid out once, a constant.
static void run_shape(tc_ctx *tc, const shape *s, what kind, float *x, float *w,
                      float *got) {
    int infinite = kind == INFINITE;
    int n = s->batch * s->channels * s->high * s->wide;
    int m = s->filters * s->channels * s->tall * s->broad;
    int out =
        s->batch * s->filters * out_of(s->high, s->tall, s) * out_of(s->wide, s->broad, s);
    float bias[256];
    REQUIRE(n <= MOST && m <= MOST && out <= MOST && s->filters <= 256);
    for (int i = 0; i < n; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < m; i++) w[i] = (float)test_number((unsigned)i, 2);
    for (int i = 0; i < s->filters; i++) bias[i] = (float)test_number((unsigned)i, 3);
    if (infinite) w[m / 2] = INFINITY, x[n / 3] = NAN;
    tc_tensor tx =
        tc_from_data(tc, x, TC_DIMS(s->batch, s->channels, s->high, s->wide), TC_F32);
    tc_dims taps = TC_DIMS(s->filters, s->channels, s->tall, s->broad);
    tc_tensor tw = kind == CONSTANT ? tc_const(tc, w, taps, TC_F32)
                                    : tc_from_data(tc, w, taps, TC_F32);
    tc_tensor tb = tc_from_data(tc, bias, TC_DIMS(s->filters), TC_F32), none = {0};
    for (int i = 0; i < 4; i++) { // the second time what is laid out is there
        int with_bias = i > 1;
        tc_trace_begin(tc, with_bias ? "windows and bias" : "windows");
        tc_tensor y =
            tc_conv2d(tx, tw, with_bias ? tb : none, s->stride, s->pad, s->dilation, 1);
        if (with_bias) y = tc_relu(y);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(y, got, (size_t)out * sizeof *got), TC_OK);
        if (!infinite || !with_bias) check_result(s, x, w, got, with_bias ? bias : NULL);
    }
    tc_free(tx), tc_free(tw), tc_free(tb);
}

static void run_all(size_t form, what kind) {
    float *x = (float *)malloc(3 * MOST * sizeof *x);
    tc_config config = tc_config_default();
    config.backend = forms[form].backend, config.isa = forms[form].isa;
    config.threads = forms[form].threads, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(x && tc);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        run_shape(tc, &shapes[i], kind, x, x + MOST, x + 2 * MOST);
    tc_close(tc);
    free(x);
}

static void run_kinds(size_t form) {
    run_all(form, FINITE), run_all(form, INFINITE), run_all(form, CONSTANT);
}

TEST(interpreted) { run_kinds(0); }
TEST(compiled) { run_kinds(1); }
TEST(three_threads) { run_all(2, FINITE), run_all(2, CONSTANT); }
TEST(avx2) { run_kinds(3); }
TEST(baseline) { run_all(4, FINITE), run_all(4, CONSTANT); }

// A region meets one constant, another, a tensor that changes, and the first again: each with its own results.
TEST(other_constants) {
    shape s = {1, 40, 9, 11, 64, 3, 3, 1, 1, 1};
    enum { X = 40 * 9 * 11, W = 64 * 40 * 9, Y = 64 * 9 * 11 };
    static float x[X], w[3][W], got[Y];
    static const int order[] = {0, 0, 1, 2, 2, 0, 1, 2, 0};
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor tw[3];
    for (int i = 0; i < X; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < W; i++)
            w[k][i] = (float)test_number((unsigned)i, 2 + (unsigned)k);
        tc_dims taps = TC_DIMS(64, 40, 3, 3);
        tw[k] =
            k < 2 ? tc_const(tc, w[k], taps, TC_F32) : tc_from_data(tc, w[k], taps, TC_F32);
    }
    tc_tensor tx = tc_from_data(tc, x, TC_DIMS(1, 40, 9, 11), TC_F32);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        int k = order[i];
        tc_trace_begin(tc, "others");
        tc_tensor y = tc_conv2d(tx, tw[k], tc_null(), 1, 1, 1, 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        check_result(&s, x, w[k], got, NULL);
        if (k < 2) continue;
        tc_neg_(tw[2]); // what may change does
        CHECK_EQ(tc_error(tc), TC_OK);
        for (int j = 0; j < W; j++) w[2][j] = -w[2][j];
    }
    tc_close(tc);
}

// ---- other dtypes ----

static tc_tensor of_dtype(tc_ctx *tc, const float *x, const int64_t *dims, int dtype) {
    tc_tensor t = tc_from_data(tc, x, tc_dims_of(4, dims), TC_F32),
              y = tc_cast(t, (tc_dtype)dtype);
    tc_free(t);
    return y;
}

// Of -1, 0 and 1, so that all dtypes have the sums.
static void run_dtype(tc_ctx *tc, const shape *s, int dtype, float *x, float *w,
                      float *got) {
    const int64_t dims[] = {s->batch, s->channels, s->high, s->wide};
    const int64_t taps[] = {s->filters, s->channels, s->tall, s->broad};
    int64_t n = dims[0] * dims[1] * dims[2] * dims[3];
    int64_t m = taps[0] * taps[1] * taps[2] * taps[3];
    for (int i = 0; i < n; i++) x[i] = (float)(int)(test_number((unsigned)i, 1) * 1.9);
    for (int i = 0; i < m; i++) w[i] = (float)(int)(test_number((unsigned)i, 2) * 1.9);
    tc_tensor tx = of_dtype(tc, x, dims, dtype), tw = of_dtype(tc, w, taps, dtype);
    tc_trace_begin(tc, tc_dtype_name((tc_dtype)dtype));
    tc_tensor y = tc_conv2d(tx, tw, tc_null(), s->stride, s->pad, s->dilation, 1);
    y = tc_to_f32(y);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(y, got, (size_t)tc_numel(y) * sizeof *got), TC_OK);
    check_result(s, x, w, got, NULL);
    tc_free(tx), tc_free(tw);
}

TEST(other_dtypes) {
    static const int dtypes[] = {TC_F64, TC_I32, TC_I64, TC_I16, TC_F16, TC_BF16};
    float *x = (float *)malloc(3 * MOST * sizeof *x);
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(x && tc);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t i = 0; i < 4; i++)
            run_dtype(tc, &shapes[i], dtypes[d], x, x + MOST, x + 2 * MOST);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
    free(x);
}

// ---- what is no convolution ----

// The gradient of a layer behind attention: g[n, m]^T times heads [b, h, t, d] side by side. The left operand's k is far apart,
// the right one's columns are read where they are.
static void run_heads(int threads, int dtype, int rows, int dim, double *want) {
    enum { BATCHES = 16, HEADS = 4, TIME = 40 };
    tc_config config = tc_config_default();
    config.threads = threads, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    int n = BATCHES * TIME, wide = HEADS * dim;
    tc_manual_seed(tc, 3);
    tc_tensor g = tc_cast(tc_randn(tc, TC_DIMS(n, rows), TC_F32), (tc_dtype)dtype),
              y = tc_cast(tc_randn(tc, TC_DIMS(BATCHES, HEADS, TIME, dim), TC_F32),
                          (tc_dtype)dtype);
    double *a = (double *)malloc(sizeof *a * (size_t)(n * rows)),
           *b = (double *)malloc(sizeof *b * (size_t)(n * wide)),
           *got = (double *)malloc(sizeof *got * (size_t)(rows * wide));
    REQUIRE(a && b && got);
    CHECK_EQ(tc_read(tc_cast(g, TC_F64), a, sizeof *a * (size_t)(n * rows)), TC_OK);
    CHECK_EQ(tc_read(tc_cast(y, TC_F64), b, sizeof *b * (size_t)(n * wide)), TC_OK);
    for (int again = 0; again < 3; again++) {
        tc_trace_begin(tc, "heads");
        tc_tensor side = tc_reshape(tc_permute(y, TC_DIMS(0, 2, 1, 3)), TC_DIMS(n, wide));
        tc_tensor w = tc_matmul(tc_t(g), side);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(tc_cast(w, TC_F64), got, sizeof *got * (size_t)(rows * wide)),
                 TC_OK);
        for (int i = 0; i < rows * wide; i++) {
            int r = i / wide, h = i % wide / dim, d = i % dim;
            double sum = 0, size = 0;
            for (int k = 0; k < n; k++) {
                double p = a[k * rows + r] *
                           b[((k / TIME * HEADS + h) * TIME + k % TIME) * dim + d];
                sum += p, size += fabs(p);
            }
            if (!(fabs(got[i] - sum) <= 1e-6 * size)) {
                FAIL("%d threads, %d rows, %d a head: [%d] is %g, not %g", threads, rows,
                     dim, i, got[i], sum);
                break;
            }
        }
        if (*want != *want) *want = got[rows * wide - 1];
        CHECK(got[rows * wide - 1] == *want); // the same bits with any number of threads
    }
    free(a), free(b), free(got);
    tc_close(tc);
}

TEST(heads_side_by_side) {
    static const int shape[][2] = {{128, 32}, {64, 32}, {96, 20}, {40, 12}, {16, 64}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int dtype = 0; dtype < 2; dtype++) {
            double want = NAN;
            run_heads(1, dtype ? TC_F64 : TC_F32, shape[i][0], shape[i][1], &want);
            run_heads(2, dtype ? TC_F64 : TC_F32, shape[i][0], shape[i][1], &want);
        }
}

// ---- which form it is ----

// ---- what stands beside them ----

// A value for each row, one for every second place of every second row, and one for each third: what a column reads beside its
// sum changes where rows end, not where items do.
static tc_tensor beside(tc_tensor y, const tc_tensor *z) {
    tc_tensor rows = tc_add(y, z[0]);
    tc_tensor twos = tc_repeat_interleave(tc_repeat_interleave(z[1], 2, 0), 2, 1);
    return tc_add(tc_add(rows, twos), tc_repeat_interleave(z[2], 3, 1));
}

static size_t run_beside(int dtype, int side, const char *backend, int dynamic,
                         unsigned char *got) {
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1, config.backend = backend;
    tc_ctx *tc = tc_open(&config);
    tc_options o = tc_options_default();
    size_t bytes = 0;
    o.dynamic = dynamic;
    for (int more = dynamic == TC_DYNAMIC_AUTO ? -12 : 0; more <= 0; more += 6) {
        int n = side + more;
        tc_manual_seed(tc, 7);
        tc_scope_begin(tc);
        tc_tensor x = tc_randn(tc, TC_DIMS(1, 30, n, n), TC_F32),
                  w = tc_randn(tc, TC_DIMS(40, 30, 3, 3), TC_F32), z[3];
        z[0] = tc_randn(tc, TC_DIMS(n, 1), TC_F32);
        z[1] = tc_randn(tc, TC_DIMS(n / 2, n / 2), TC_F32);
        z[2] = tc_randn(tc, TC_DIMS(n, n / 3), TC_F32);
        x = tc_cast(x, (tc_dtype)dtype), w = tc_cast(w, (tc_dtype)dtype);
        for (int i = 0; i < 3; i++) z[i] = tc_cast(z[i], (tc_dtype)dtype);
        tc_trace_begin_with(tc, "beside", &o);
        tc_tensor y = beside(tc_conv2d(x, w, tc_null(), 1, 1, 1, 1), z);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        bytes = (size_t)tc_numel(y) * (dtype == TC_F64 ? 8 : 4);
        CHECK_EQ(tc_read(y, got, bytes), TC_OK);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    return bytes;
}

TEST(beside) {
    static unsigned char got[3][40 * 66 * 66 * 8];
    static const int sides[] = {66, 54, 36, 30};
    for (int i = 0; i < 8; i++) {
        int dtype = i / 4 ? TC_F64 : TC_F32, side = sides[i % 4];
        size_t n = run_beside(dtype, side, "aot_eager", TC_DYNAMIC_OFF, got[0]);
        CHECK_EQ(run_beside(dtype, side, "cpu", TC_DYNAMIC_OFF, got[1]), n);
        CHECK_EQ(run_beside(dtype, side, "cpu", TC_DYNAMIC_AUTO, got[2]), n);
        for (int k = 1; k < 3; k++)
            if (memcmp(got[0], got[k], n))
                FAIL("%d of %dx%d: %s has other bits", dtype, side, side,
                     k == 1 ? "its program" : "that of all sizes");
    }
}

// The C of a convolution of `filters` filters over a square image.
static const char *code_with(int channels, int side, int filters, int constant) {
    tc_config config = tc_config_default();
    static char text[1 << 18];
    config.threads = 2, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor none = {0};
    tc_tensor x = tc_ones(tc, TC_DIMS(1, channels, side, side), TC_F32);
    tc_tensor w = tc_ones(tc, TC_DIMS(filters, channels, 3, 3), TC_F32);
    if (constant) w = tc_const(tc, tc_data(w), TC_DIMS(filters, channels, 3, 3), TC_F32);
    tc_trace_begin(tc, "form");
    tc_tensor y = tc_conv2d(x, w, none, 1, 1, 1, 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    (void)y;
    snprintf(text, sizeof text, "%s", tc_region_source(tc, "form"));
    tc_close(tc);
    return text;
}

static const char *code_of(int channels, int side, int filters) {
    return code_with(channels, side, filters, 0);
}

// Many windows are read in place, and few where there are many filters, which then are packed slice by slice; else
// packing windows is less.
TEST(forms) {
    CHECK(strstr(code_of(16, 32, 32), "const tc_i32 *to"));
    CHECK(!strstr(code_of(16, 8, 64), "pack + i * depth"));
    CHECK(strstr(code_of(16, 8, 64), "pack + i * slice"));
    CHECK(!strstr(code_of(16, 8, 16), "const tc_i32 *to"));
    CHECK(!strstr(code_of(16, 3, 64), "const tc_i32 *to"));
    CHECK(!strstr(code_of(16, 32, 2), "const tc_i32 *to"));
    // Panels of a constant are read where they lie, and no border cuts windows of an image that has it.
    CHECK(!strstr(code_with(16, 32, 64, 1), "*pack ="));
    CHECK(!strstr(code_with(16, 8, 64, 1), "*pack ="));
    CHECK(strstr(code_with(16, 32, 68, 1), "*pack ="));
    CHECK(!strstr(code_with(16, 32, 68, 1), "border"));
}

// ---- weights [columns, k] ----

// A linear layer of `m` rows, whose weights are read as windows are: its sums, k in order.
static void run_layer(tc_ctx *tc, int m, int n, int k, float *x, float *w, float *got) {
    int wrong = 0;
    REQUIRE(m * k <= MOST && n * k <= MOST && m * n <= MOST);
    for (int i = 0; i < m * k; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < n * k; i++) w[i] = (float)test_number((unsigned)i, 2);
    tc_tensor tx = tc_from_data(tc, x, TC_DIMS(m, k), TC_F32);
    tc_tensor tw = tc_from_data(tc, w, TC_DIMS(n, k), TC_F32);
    tc_trace_begin(tc, "layer");
    tc_tensor y = tc_linear(tx, tw, tc_null());
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(y, got, (size_t)(m * n) * sizeof *got), TC_OK);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++) sum = fmaf(x[i * k + l], w[j * k + l], sum);
            wrong += !same(got[i * n + j], sum);
        }
    if (wrong) FAIL("%d of %dx%dx%d are wrong", wrong, m, n, k);
    tc_free(tx), tc_free(tw);
}

TEST(weights) {
    static const int sizes[][3] = {{33, 130, 70}, {64, 256, 513}, {131, 300, 401}};
    float *x = (float *)malloc(3 * MOST * sizeof *x);
    for (size_t form = 1; form < sizeof forms / sizeof *forms; form++) {
        tc_config config = tc_config_default();
        config.backend = forms[form].backend, config.isa = forms[form].isa;
        config.threads = forms[form].threads, config.no_disk_cache = 1;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(x && tc);
        for (int i = 0; i < 3; i++)
            run_layer(tc, sizes[i][0], sizes[i][1], sizes[i][2], x, x + MOST, x + 2 * MOST);
        tc_close(tc);
    }
    free(x);
}

// ---- images with a depth ----

typedef struct volume {
    int batch, channels, size[3], filters, taps[3], stride[3], pad[3], dilation[3], groups;
} volume;

static const volume volumes[] = {
    {1, 3, {8, 9, 10}, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1},
    {2, 4, {5, 7, 6}, 6, {2, 3, 1}, {2, 1, 3}, {0, 2, 0}, {1, 2, 1}, 2},
    {1, 20, {4, 6, 5}, 33, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {3, 1, 1}, 1},
    {3, 2, {3, 3, 3}, 4, {3, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1}, // one result
};

static int volume_out(const volume *v, int i) {
    return (v->size[i] + 2 * v->pad[i] - v->dilation[i] * (v->taps[i] - 1) - 1) /
               v->stride[i] +
           1;
}

// Element `at` of a filter's result, by (channel, depth, row, column).
static float volume_expected(const volume *v, const float *x, const float *w, int image,
                             int filter, const int *at) {
    const int *n = v->size, *t = v->taps;
    int of = v->channels / v->groups, first = filter / (v->filters / v->groups) * of;
    float sum = 0;
    for (int k = 0; k < of * t[0] * t[1] * t[2]; k++) {
        int tap[3] = {k / (t[1] * t[2]) % t[0], k / t[2] % t[1], k % t[2]}, in[3],
            inside = 1;
        for (int i = 0; i < 3; i++) {
            in[i] = at[i] * v->stride[i] - v->pad[i] + tap[i] * v->dilation[i];
            inside &= in[i] >= 0 && in[i] < n[i];
        }
        if (!inside) continue;
        int c = image * v->channels + first + k / (t[0] * t[1] * t[2]);
        sum = fmaf(w[filter * of * t[0] * t[1] * t[2] + k],
                   x[((c * n[0] + in[0]) * n[1] + in[1]) * n[2] + in[2]], sum);
    }
    return sum;
}

static void run_volume(tc_ctx *tc, const volume *v, float *x, float *w, float *got) {
    const int *n = v->size, *t = v->taps;
    int xs = v->batch * v->channels * n[0] * n[1] * n[2], wrong = 0;
    int ws = v->filters * (v->channels / v->groups) * t[0] * t[1] * t[2];
    int out[3] = {volume_out(v, 0), volume_out(v, 1), volume_out(v, 2)};
    float bias[64];
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 3; i++)
        o.stride[i] = v->stride[i], o.padding[i] = v->pad[i],
        o.dilation[i] = v->dilation[i];
    o.groups = v->groups;
    for (int i = 0; i < xs; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < ws; i++) w[i] = (float)test_number((unsigned)i, 2);
    for (int i = 0; i < v->filters; i++) bias[i] = (float)test_number((unsigned)i, 3);
    tc_tensor tx =
        tc_from_data(tc, x, TC_DIMS(v->batch, v->channels, n[0], n[1], n[2]), TC_F32);
    tc_tensor tw = tc_from_data(
        tc, w, TC_DIMS(v->filters, v->channels / v->groups, t[0], t[1], t[2]), TC_F32);
    tc_tensor tb = tc_from_data(tc, bias, TC_DIMS(v->filters), TC_F32);
    for (int eager = 0; eager < 2; eager++) {
        if (!eager) tc_trace_begin(tc, "volume");
        tc_tensor y = tc_conv3d_with(tx, tw, tb, &o);
        if (!eager) CHECK_EQ(tc_trace_end(tc), TC_OK);
        int all = v->batch * v->filters * out[0] * out[1] * out[2];
        CHECK_EQ(tc_rank(y), 5), CHECK_EQ(tc_numel(y), all);
        REQUIRE(tc_read(y, got, (size_t)all * sizeof *got) == TC_OK);
        for (int i = 0; i < all; i++) {
            int filter = i / (out[0] * out[1] * out[2]) % v->filters;
            int at[3] = {i / (out[1] * out[2]) % out[0], i / out[2] % out[1], i % out[2]};
            int image = i / (out[0] * out[1] * out[2] * v->filters);
            wrong +=
                !same(got[i], volume_expected(v, x, w, image, filter, at) + bias[filter]);
        }
    }
    if (wrong) FAIL("%d of %dx%dx%dx%d are wrong", wrong, v->channels, n[0], n[1], n[2]);
    tc_free(tx), tc_free(tw), tc_free(tb);
}

TEST(depths) {
    float *x = (float *)malloc(3 * MOST * sizeof *x);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        tc_config config = tc_config_default();
        config.backend = forms[form].backend, config.isa = forms[form].isa;
        config.threads = forms[form].threads, config.no_disk_cache = 1;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(x && tc);
        for (size_t i = 0; i < sizeof volumes / sizeof *volumes; i++)
            run_volume(tc, &volumes[i], x, x + MOST, x + 2 * MOST);
        tc_tensor alone =
            tc_conv3d(tc_ones(tc, TC_DIMS(2, 3, 4, 5), TC_F32),
                      tc_ones(tc, TC_DIMS(1, 2, 2, 2, 2), TC_F32), tc_null(), 1, 0, 1, 1);
        CHECK_EQ(tc_rank(alone), 4), CHECK_EQ(tc_dim(alone, 3), 4);
        CHECK_NEAR(tc_item(tc_amax_all(alone)), 16, 0);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
    free(x);
}
