// Convolutions on a device against sums in double: forward with a bias and relu, and what image and weight count. Channels of
// a line and of parts of one, strides, borders, dilation, groups, sizes that divide into nothing; halves, f32, and f32 as tf32;
// by tensor maps of windows, by accesses of threads that look where an image ends, and of an older device.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

#include <math.h>

enum {
    WINDOWS = 1,
    PLAIN,
    FOURS
}; // how the forward product is to get its columns: FOURS, by threads

typedef struct convolution {
    int dtype; // TC_F32 with tf32 = 1: as tf32
    int n, c, h, w, o, kh, kw, stride, padding, dilation, groups;
    int way; // 0 = any
    int tf32;
    // Where columns of gradients are made, they are rounded to halves: a sum of as many errors.
    int rounds_image, rounds_weight;
} convolution;

static const convolution cases[] = {
    {TC_BF16, 2, 64, 14, 14, 48, 3, 3, 1, 1, 1, 1, WINDOWS, 0, 0, 0},
    {TC_F16, 2, 64, 9, 13, 32, 3, 3, 2, 1, 1, 1, WINDOWS, 0, 0, 0},
    {TC_BF16, 3, 17, 14, 14, 24, 3, 3, 1, 2, 2, 1, WINDOWS, 0, 0, 0},
    {TC_F16, 1, 72, 15, 31, 40, 5, 3, 1, 1, 1, 1, WINDOWS, 0, 0, 0},
    {TC_BF16, 3, 3, 33, 31, 32, 7, 7, 2, 3, 1, 1, WINDOWS, 0, 1, 0},
    // Windows whose rows stand in half a line or one, with and without zeros behind their taps.
    {TC_F16, 3, 1, 28, 30, 24, 5, 5, 1, 2, 1, 1, 0, 0, 1, 1},
    {TC_BF16, 2, 5, 21, 19, 32, 3, 5, 2, 1, 1, 1, WINDOWS, 0, 1, 0},
    {TC_BF16, 2, 9, 17, 23, 40, 7, 7, 1, 3, 1, 1, WINDOWS, 0, 1, 1},
    {TC_F32, 3, 2, 27, 22, 16, 5, 7, 2, 3, 1, 1, 0, 1, 0, 0},
    {TC_BF16, 5, 80, 7, 7, 48, 1, 1, 1, 0, 1, 1, PLAIN, 0, 1, 1},
    {TC_F16, 3, 96, 14, 14, 33, 1, 1, 2, 0, 1, 1, WINDOWS, 0, 1, 1},
    {TC_BF16, 2, 64, 16, 16, 40, 3, 3, 1, 0, 1, 1, WINDOWS, 0, 0, 0},
    {TC_BF16, 2, 32, 8, 8, 24, 3, 3, 1, 3, 1, 1, WINDOWS, 0, 0,
     0}, // a border wider than its windows
    {TC_BF16, 2, 32, 12, 12, 32, 3, 3, 1, 1, 1, 4, 0, 0, 1, 1},
    {TC_BF16, 2, 40, 1, 50, 24, 1, 5, 1, 2, 1, 1, 0, 0, 0, 0}, // of one row
    {TC_F32, 2, 40, 15, 14, 24, 3, 3, 2, 1, 1, 1, WINDOWS, 1, 0, 0},
    {TC_F32, 2, 3, 33, 31, 32, 7, 7, 2, 3, 1, 1, WINDOWS, 1, 0, 0},
    {TC_F32, 2, 17, 29, 31, 24, 3, 3, 1, 1, 1, 1, FOURS, 0, 0, 0},
    {TC_F32, 3, 40, 13, 9, 72, 3, 3, 2, 1, 1, 1, FOURS, 0, 0, 0},
    {TC_F32, 2, 3, 33, 31, 32, 7, 7, 2, 3, 1, 1, FOURS, 0, 0, 0},
    {TC_F32, 2, 20, 14, 17, 16, 3, 5, 1, 2, 2, 1, FOURS, 0, 0, 0}, // few results
    {TC_F32, 2, 32, 12, 12, 32, 3, 3, 1, 1, 1, 4, 0, 0, 0, 0},
};

static const tc_options *options_of(const convolution *v, tc_options *o) {
    *o = tc_options_default();
    o->allow_tf32 = v->tf32;
    return o;
}

// ---- what is right ----

static int out_size(const convolution *v, int size, int kernel) {
    return (size + 2 * v->padding - v->dilation * (kernel - 1) - 1) / v->stride + 1;
}

typedef struct sums {
    double *of, *size; // sums, and sums of magnitudes
} sums;

static sums sums_of(size_t n) {
    sums s = {(double *)calloc(n, sizeof(double)), (double *)calloc(n, sizeof(double))};
    return s;
}

static void add(sums *s, size_t at, double v) { s->of[at] += v, s->size[at] += fabs(v); }

static void sums_free(sums *s) { free(s->of), free(s->size); }

typedef struct numbers {
    float *x, *w, *b, *g; // image, weight, bias; what each result counts
    size_t xs, ws, bs, gs;
    int oh, ow;
} numbers;

static float *random_numbers(size_t n, unsigned seed, int dtype) {
    float *x = (float *)malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) { // of halves, what they hold
        double v = test_number((unsigned)i, seed);
        x[i] = (float)(dtype == TC_F32 ? v : floor(v * 64) / 64);
    }
    return x;
}

static numbers numbers_of(const convolution *v) {
    numbers m;
    m.oh = out_size(v, v->h, v->kh), m.ow = out_size(v, v->w, v->kw);
    m.xs = (size_t)(v->n * v->c * v->h * v->w), m.bs = (size_t)v->o;
    m.ws = (size_t)(v->o * (v->c / v->groups) * v->kh * v->kw);
    m.gs = (size_t)(v->n * v->o * m.oh * m.ow);
    m.x = random_numbers(m.xs, 1, v->dtype), m.w = random_numbers(m.ws, 2, v->dtype);
    m.b = random_numbers(m.bs, 3, v->dtype), m.g = random_numbers(m.gs, 4, v->dtype);
    return m;
}

static void numbers_free(numbers *m) { free(m->x), free(m->w), free(m->b), free(m->g); }

// Each product of an image's and a weight's element, to the three sums that have it.
static void right(const convolution *v, const numbers *m, sums *y, sums *dx, sums *dw) {
    int of = v->c / v->groups;
    size_t r = 0;
    for (int n = 0; n < v->n; n++)
        for (int o = 0; o < v->o; o++)
            for (int p = 0; p < m->oh * m->ow; p++, r++) {
                int first = o / (v->o / v->groups) * of;
                add(y, r, (double)m->b[o]);
                for (int k = 0; k < of * v->kh * v->kw; k++) {
                    int c = first + k / (v->kh * v->kw), i = k / v->kw % v->kh,
                        j = k % v->kw;
                    int row = p / m->ow * v->stride + i * v->dilation - v->padding,
                        col = p % m->ow * v->stride + j * v->dilation - v->padding;
                    if (row < 0 || row >= v->h || col < 0 || col >= v->w) continue;
                    size_t x = (size_t)(((n * v->c + c) * v->h + row) * v->w + col),
                           w = (size_t)(o * of * v->kh * v->kw + k);
                    add(y, r, (double)m->x[x] * (double)m->w[w]);
                    add(dx, x, (double)m->g[r] * (double)m->w[w]);
                    add(dw, w, (double)m->g[r] * (double)m->x[x]);
                }
            }
}

// A result is rounded once to its dtype; its sum is of f32, or of products of rounded factors.
static int check_sums(const char *what, const convolution *v, const float *got,
                      const sums *s, size_t n, int relu, int rounds) {
    double unit = v->dtype == TC_BF16 ? 1.0 / 256 : v->dtype == TC_F16 ? 1.0 / 2048 : 1e-7;
    double sum = v->tf32 ? 1.0 / 2048 : 1e-6;
    for (size_t i = 0; i < n; i++) {
        double of = relu && s->of[i] < 0 ? 0 : s->of[i];
        double most = unit * fabs(of) + sum * s->size[i] + (rounds ? unit * s->size[i] : 0);
        if (!(fabs((double)got[i] - of) <= most))
            return FAIL("%s[%zu] is %g, not %g (at most %g off): %dx%dx%dx%d", what, i,
                        (double)got[i], of, most, v->n, v->c, v->h, v->w);
    }
    return 1;
}

// ---- what a device makes ----

static tc_tensor on_device(tc_ctx *tc, const float *x, tc_dims d, int dtype) {
    return tc_to(tc_cast(tc_from_data(tc, x, d, TC_F32), (tc_dtype)dtype), DEVICE_NAME);
}

static void fetch(tc_tensor t, float *to, size_t n) {
    CHECK_EQ(tc_read(tc_cast(tc_to(t, "cpu"), TC_F32), to, n * sizeof *to), TC_OK);
}

// What an image counts is the transposed convolution of what its result counts.
static tc_tensor transposed(const convolution *v, const numbers *m, tc_conv_options of,
                            tc_tensor g, tc_tensor w) {
    int high = (m->oh - 1) * v->stride - 2 * v->padding + v->dilation * (v->kh - 1) + 1,
        wide = (m->ow - 1) * v->stride - 2 * v->padding + v->dilation * (v->kw - 1) + 1;
    of.output_padding[0] = v->h - high, of.output_padding[1] = v->w - wide;
    return tc_conv_transpose2d_with(g, w, tc_null(), &of);
}

// Each case has regions of its own: with others' sizes before it, it would have run-time sizes.
static void run_case(tc_ctx *tc, const convolution *v, int mapped) {
    numbers m = numbers_of(v);
    char forward[40], backward[40], back[40];
    snprintf(forward, sizeof forward, "forward %d", (int)(v - cases));
    snprintf(backward, sizeof backward, "backward %d", (int)(v - cases));
    snprintf(back, sizeof back, "transposed %d", (int)(v - cases));
    tc_options o;
    float *y = (float *)malloc(m.gs * sizeof *y), *dx = (float *)malloc(m.xs * sizeof *dx),
          *dw = (float *)malloc(m.ws * sizeof *dw);
    sums sy = sums_of(m.gs), sx = sums_of(m.xs), sw = sums_of(m.ws);
    tc_scope_begin(tc);
    tc_tensor x = on_device(tc, m.x, TC_DIMS(v->n, v->c, v->h, v->w), v->dtype),
              w = on_device(tc, m.w, TC_DIMS(v->o, v->c / v->groups, v->kh, v->kw),
                            v->dtype),
              b = on_device(tc, m.b, TC_DIMS(v->o), v->dtype),
              g = on_device(tc, m.g, TC_DIMS(v->n, v->o, m.oh, m.ow), v->dtype);
    tc_conv_options of;
    memset(&of, 0, sizeof of);
    of.stride[0] = of.stride[1] = v->stride, of.dilation[0] = of.dilation[1] = v->dilation;
    of.padding[0] = of.padding[1] = v->padding, of.groups = v->groups;
    tc_trace_begin_with(tc, forward, options_of(v, &o));
    tc_tensor out = tc_keep(tc_relu(tc_conv2d_with(x, w, b, &of)));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (v->way == FOURS) {
        CHECK(strstr(tc_region_source(tc, forward), ": tc_pack<float, 4>{};") != NULL);
    } else if (mapped && v->way) {
        const char *source = tc_region_source(tc, forward);
        CHECK_EQ(strstr(source, "windows = 1,") != NULL, v->way == WINDOWS);
        CHECK(strstr(source, "tc_mapped<") != NULL);
    }
    tc_tensor both[2], in[2] = {x, w};
    tc_trace_begin_with(tc, backward, options_of(v, &o));
    CHECK_EQ(tc_vjp(tc_conv2d_with(x, w, tc_null(), &of), g, in, 2, both), TC_OK);
    tc_keep(both[0]), tc_keep(both[1]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    fetch(out, y, m.gs), fetch(both[0], dx, m.xs), fetch(both[1], dw, m.ws);
    CHECK_STR(tc_error_text(tc), "");
    right(v, &m, &sy, &sx, &sw);
    check_sums("y", v, y, &sy, m.gs, 1, 0);
    check_sums("dx", v, dx, &sx, m.xs, 0, v->rounds_image || !mapped);
    check_sums("dw", v, dw, &sw, m.ws, 0, v->rounds_weight);
    tc_free(out), tc_free(both[0]), tc_free(both[1]);
    tc_trace_begin_with(tc, back, options_of(v, &o));
    out = transposed(v, &m, of, g, w);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    fetch(out, dx, m.xs);
    CHECK_STR(tc_error_text(tc), "");
    check_sums("transposed", v, dx, &sx, m.xs, 0, 0);
    tc_scope_end(tc);
    sums_free(&sy), sums_free(&sx), sums_free(&sw), numbers_free(&m);
    free(y), free(dx), free(dw);
}

static void run_cases(int mapped, size_t first, size_t end, size_t step) {
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    for (size_t i = first; i < end; i += step) run_case(tc, &cases[i], mapped);
    tc_close(tc);
    check_device_closed();
}

enum { HALF = 6, CASES = sizeof cases / sizeof *cases };

TEST(windows) { run_cases(!device_is_real, 0, HALF, 1); }

TEST(windows_of_others) { run_cases(!device_is_real, HALF, CASES, 1); }

TEST(every_access_is_looked_at) {
    setenv("TC_CUDA_CHECK", "1", 1);
    run_cases(0, 0, CASES, 4);
}

TEST(of_an_older_device) {
    if (device_is_real || !device_use()) return;
    fake->major = 8, fake->minor = 9;
    run_cases(0, 0, CASES, 3);
}

// An image whose channels are last in memory, and that of a view of one: the first is not laid out anew.
TEST(channels_that_are_last) {
    static const convolution v = {TC_BF16, 2, 64, 10, 10,      32, 3, 3,
                                  1,       1, 1,  1,  WINDOWS, 0,  0, 0};
    numbers m = numbers_of(&v);
    float *last = (float *)malloc(m.xs * sizeof *last),
          *y = (float *)malloc(m.gs * sizeof *y);
    sums sy = sums_of(m.gs), sx = sums_of(m.xs), sw = sums_of(m.ws);
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    for (size_t i = 0; i < m.xs; i++) // element (n, c, place) stands at (n, place, c)
        last[(i / 6400 * 100 + i % 100) * 64 + i / 100 % 64] = m.x[i];
    right(&v, &m, &sy, &sx, &sw);
    tc_tensor w = on_device(tc, m.w, TC_DIMS(32, 64, 3, 3), TC_BF16),
              b = on_device(tc, m.b, TC_DIMS(32), TC_BF16),
              x = on_device(tc, last, TC_DIMS(2, 10, 10, 64), TC_BF16);
    uint64_t kernels = tc_stats_get(tc).kernel_runs;
    tc_trace_begin(tc, "last");
    tc_tensor out =
        tc_keep(tc_conv2d(tc_permute(x, TC_DIMS(0, 3, 1, 2)), w, b, 1, 1, 1, 1));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    fetch(out, y, m.gs);
    CHECK_EQ(tc_stats_get(tc).kernel_runs - kernels,
             3); // the weight's, the product, a cast
    CHECK(strstr(tc_region_source(tc, "last"), "windows = 1,") != NULL || device_is_real);
    check_sums("y", &v, y, &sy, m.gs, 0, 0);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
    sums_free(&sy), sums_free(&sx), sums_free(&sw), numbers_free(&m), free(last), free(y);
}

static float as_bf16(double x) {
    float f = (float)x, back;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    u = (u + 0x7fffu + (u >> 16 & 1)) & 0xffff0000u;
    memcpy(&back, &u, sizeof back);
    return back;
}

static void fill(float *x, size_t n, unsigned seed, double scale, double middle) {
    for (size_t i = 0; i < n; i++)
        x[i] = as_bf16(middle + scale * test_number((unsigned)i, seed));
}

enum { IMAGES = 8, CHANNELS = 64, SIDE = 12, PLACES = SIDE * SIDE, RESULTS = 32 };

// Norm and relu of a 1x1 convolution, then a 3x3: what lies with channels last between them is stored so by the first product, for
// another reader as well; the norm's scale is computed once for each channel.
TEST(between_convolutions) {
    static float x[IMAGES * CHANNELS * PLACES], r[IMAGES * CHANNELS * PLACES],
        got[IMAGES * CHANNELS * PLACES], w1[CHANNELS * CHANNELS],
        w2[RESULTS * CHANNELS * 9], norm[4][CHANNELS], y[IMAGES * RESULTS * PLACES];
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    int far = 0;
    REQUIRE(open_device(tc));
    fill(x, IMAGES * CHANNELS * PLACES, 1, 1, 0), fill(w1, CHANNELS * CHANNELS, 2, 0.2, 0);
    fill(w2, RESULTS * CHANNELS * 9, 3, 0.06, 0);
    for (unsigned i = 0; i < 4; i++)
        fill(norm[i], CHANNELS, 4 + i, i == 1 ? 0.2 : 0.3, i == 1 || i == 2);
    for (int i = 0; i < IMAGES * CHANNELS * PLACES; i++) {
        int image = i / PLACES / CHANNELS, o = i / PLACES % CHANNELS;
        double sum = 0;
        for (int c = 0; c < CHANNELS; c++)
            sum += (double)w1[o * CHANNELS + c] *
                   (double)x[(image * CHANNELS + c) * PLACES + i % PLACES];
        double scale = (double)norm[2][o] / sqrt((double)norm[1][o] + 1e-5);
        float v = as_bf16(((double)as_bf16(sum) - (double)norm[0][o]) * scale +
                          (double)norm[3][o]);
        r[i] = v > 0 ? v : 0;
    }
    tc_tensor p[4], in = on_device(tc, x, TC_DIMS(IMAGES, CHANNELS, SIDE, SIDE), TC_BF16),
                    first = on_device(tc, w1, TC_DIMS(CHANNELS, CHANNELS, 1, 1), TC_BF16),
                    second = on_device(tc, w2, TC_DIMS(RESULTS, CHANNELS, 3, 3), TC_BF16);
    for (int i = 0; i < 4; i++) p[i] = on_device(tc, norm[i], TC_DIMS(CHANNELS), TC_BF16);
    uint64_t kernels = tc_stats_get(tc).kernel_runs;
    tc_trace_begin(tc, "between");
    tc_tensor a = tc_conv2d(in, first, tc_null(), 1, 0, 1, 1);
    a = tc_relu(tc_batch_norm(a, p[0], p[1], p[2], p[3], 1e-5));
    tc_tensor twice = tc_keep(tc_mul_s(a, 2));
    tc_tensor out = tc_keep(tc_conv2d(a, second, tc_null(), 1, 1, 1, 1));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    // the scale, the first product, its double, the second weight, the second product
    CHECK_EQ(tc_stats_get(tc).kernel_runs - kernels, 5);
    fetch(twice, got, IMAGES * CHANNELS * PLACES);
    for (int i = 0; i < IMAGES * CHANNELS * PLACES; i++)
        far +=
            !(fabs((double)got[i] / 2 - (double)r[i]) <= 0.02 * (1 + fabs((double)r[i])));
    if (far) FAIL("%d values between them are far", far);
    fetch(out, y, IMAGES * RESULTS * PLACES);
    for (int i = 0; i < IMAGES * RESULTS * PLACES; i++) {
        int image = i / PLACES / RESULTS, o = i / PLACES % RESULTS, h = i / SIDE % SIDE,
            w = i % SIDE;
        double sum = 0;
        for (int c = 0; c < CHANNELS; c++)
            for (int k = 0; k < 9; k++) {
                int b = h + k / 3 - 1, e = w + k % 3 - 1;
                if (b < 0 || b >= SIDE || e < 0 || e >= SIDE) continue;
                sum += (double)w2[(o * CHANNELS + c) * 9 + k] *
                       (double)r[(image * CHANNELS + c) * PLACES + b * SIDE + e];
            }
        far += !(fabs((double)y[i] - sum) <= 0.02 * (1 + fabs(sum)));
    }
    if (far) FAIL("%d results are far", far);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}
