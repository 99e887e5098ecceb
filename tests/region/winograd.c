// 3x3 convolutions under TC_NUMERICS_FAST (pass winograd): results against loops in double, whose distance stays below the bound
// of a sum of 9 C products one after the other, 9 C 2^-24 sum |w| max |x|; for images, weights and borders of many sizes, with what
// is fused, gradients, and batches of run-time size. Strict numerics, and convolutions that do not gain, keep the bits of one
// fused multiply-add for each product.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

#include <math.h>

enum { TAPS = 9, MOSTLY = 6 }; // times the distance of sums in order

typedef struct shape {
    int batch, channels, results, height, width, pad;
    int stride, dilation, groups;
    int fewer; // it is computed with fewer products
} shape;

static const shape shapes[] = {
    {1, 32, 32, 20, 24, 1, 1, 1, 1, 1}, // whole tiles
    {1, 64, 48, 23, 25, 1, 1, 1, 1, 1}, // ragged ones
    {1, 40, 72, 22, 27, 0, 1, 1, 1, 1}, // no border, channels that are half a vector more
    {2, 64, 64, 17, 18, 2, 1, 1, 1, 1}, // a wide one
    {3, 32, 64, 21, 24, 1, 1, 1, 1, 1},  {1, 32, 40, 40, 9, 3, 1, 1, 1, 1},
    {1, 72, 128, 15, 16, 1, 1, 1, 1, 1}, // few tiles, several panels
    {1, 64, 64, 7, 7, 1, 1, 1, 1, 0},    // transforms of the weight would take longer
    {1, 36, 32, 24, 24, 1, 1, 1, 1, 0},  // no whole vectors of channels
    {1, 16, 64, 24, 24, 1, 1, 1, 1, 0},  // few of them
    {1, 64, 64, 24, 24, 1, 2, 1, 1, 0},  {1, 64, 64, 24, 24, 2, 1, 2, 1, 0},
    {1, 128, 64, 24, 24, 1, 1, 1, 2, 0}};

static float *numbers(int n, unsigned from) {
    float *p = (float *)malloc(sizeof *p * (size_t)n);
    for (int i = 0; i < n; i++) p[i] = (float)test_number((unsigned)i, from);
    return p;
}

static int out_of(const shape *s, int size) {
    return (size + 2 * s->pad - 2 * s->dilation - 1) / s->stride + 1;
}

static int count_of(const shape *s, int channels, int height, int width) {
    return s->batch * channels * height * width;
}

static int image_of(const shape *s) {
    return count_of(s, s->channels, s->height, s->width);
}

static int weight_of(const shape *s) { return s->results * s->channels / s->groups * TAPS; }

static int results_of(const shape *s) {
    return count_of(s, s->results, out_of(s, s->height), out_of(s, s->width));
}

// Of steps of one, by images [n, c, h, w] and weights [o, c, 3, 3] in double. size, if it is asked for: sum |w| max |x|, which no
// result of these weights and images exceeds.
static void convolve(const shape *s, const double *x, const float *w, double *y,
                     double *size) {
    int height = out_of(s, s->height), width = out_of(s, s->width), all = results_of(s);
    double most = 0;
    for (int i = 0; i < image_of(s); i++) most = fmax(most, fabs(x[i]));
    for (int i = 0; i < all; i++) {
        int at = i / width % height - s->pad, left = i % width - s->pad,
            o = i / width / height % s->results, n = i / width / height / s->results;
        double sum = 0, weights = 0;
        for (int k = 0; k < s->channels * TAPS; k++) {
            int row = at + k / 3 % 3, column = left + k % 3;
            double a = (double)w[o * s->channels * TAPS + k];
            weights += fabs(a);
            if (row < 0 || row >= s->height || column < 0 || column >= s->width) continue;
            sum +=
                a * x[((n * s->channels + k / TAPS) * s->height + row) * s->width + column];
        }
        y[i] = sum;
        if (size) size[i] = weights * most;
    }
}

static double *doubles(int n) { return (double *)calloc((size_t)n, sizeof(double)); }

static double *widened(const float *x, int n) {
    double *y = doubles(n);
    for (int i = 0; i < n; i++) y[i] = (double)x[i];
    return y;
}

// Numbers that differ from `want` by more than `most` of each.
static int count_far(const float *got, const double *want, const double *most, int n) {
    int far = 0;
    for (int i = 0; i < n; i++) far += !(fabs((double)got[i] - want[i]) <= most[i]);
    return far;
}

// Root of the mean square of distances.
static double distance(const float *got, const double *want, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += pow((double)got[i] - want[i], 2);
    return sqrt(sum / n);
}

// Whether some program has the transforms.
static int has_fewer(tc_ctx *tc) { return strstr(tc_explain(tc), " = unrolled ") != NULL; }

static double unit(int terms) { return terms * 0x1p-24; }

static tc_tensor convolution(const shape *s, tc_tensor x, tc_tensor w) {
    return tc_conv2d(x, w, tc_null(), s->stride, s->pad, s->dilation, s->groups);
}

static tc_tensor tensor_of(tc_ctx *tc, const float *p, int a, int b, int c, int d) {
    return tc_from_data(tc, p, TC_DIMS(a, b, c, d), TC_F32);
}

// Regions of their own by shape: after others they would have run-time sizes.
static void begin(tc_ctx *tc, const char *what, const shape *s, tc_numerics numerics) {
    char name[60];
    tc_options o;
    memset(&o, 0, sizeof o);
    o.numerics = numerics;
    snprintf(name, sizeof name, "%s %d", what, (int)(s - shapes));
    tc_trace_begin_at(tc, name, &o, "test.c", 1);
}

static float *run(tc_ctx *tc, const shape *s, const char *what, tc_numerics numerics,
                  tc_tensor x, tc_tensor w) {
    size_t bytes = sizeof(float) * (size_t)results_of(s);
    float *got = (float *)calloc(1, bytes);
    begin(tc, what, s, numerics);
    tc_tensor y = convolution(s, x, w);
    END();
    CHECK_EQ(tc_read(y, got, bytes), TC_OK);
    tc_free(y);
    return got;
}

static void near_and_strict(tc_ctx *tc, int constant) {
    for (const shape *s = shapes; s < shapes + sizeof shapes / sizeof *shapes; s++) {
        int n = results_of(s);
        float *x = numbers(image_of(s), 1), *w = numbers(weight_of(s), 2);
        tc_tensor tx = tensor_of(tc, x, s->batch, s->channels, s->height, s->width);
        tc_dims taps = TC_DIMS(s->results, s->channels / s->groups, 3, 3);
        tc_tensor tw =
            constant ? tc_const(tc, w, taps, TC_F32) : tc_from_data(tc, w, taps, TC_F32);
        float *fast = run(tc, s, "fast", TC_NUMERICS_FAST, tx, tw),
              *strict = run(tc, s, "strict", TC_NUMERICS_STRICT, tx, tw);
        int other = memcmp(fast, strict, sizeof *fast * (size_t)n) != 0;
        if (other != s->fewer)
            FAIL("shape %d: fewer products: %d", (int)(s - shapes), other);
        if (s->fewer) {
            double *dx = widened(x, image_of(s)), *y = doubles(n), *most = doubles(n);
            convolve(s, dx, w, y, most);
            for (int i = 0; i < n; i++) most[i] *= unit(TAPS * s->channels);
            int far = count_far(fast, y, most, n);
            double ours = distance(fast, y, n), theirs = distance(strict, y, n);
            if (far) FAIL("shape %d: %d are far", (int)(s - shapes), far);
            if (ours > MOSTLY * theirs)
                FAIL("shape %d: %g where sums in order are %g away", (int)(s - shapes),
                     ours, theirs);
            free(dx), free(y), free(most);
        }
        tc_free(tx), tc_free(tw), free(x), free(w), free(fast), free(strict);
    }
}

BOTH(results_are_near_and_strict_ones_stay) { near_and_strict(tc, 0); }

// Weights that are transformed once, in panels where results are whole ones.
BOTH(so_are_those_of_constants) { near_and_strict(tc, 1); }

// One fused multiply-add after the other, of a channel's taps.
BOTH(strict_results_are_sums_in_order) {
    const shape *s = &shapes[1];
    int height = out_of(s, s->height), width = out_of(s, s->width), n = results_of(s),
        wrong = 0;
    float *x = numbers(image_of(s), 1), *w = numbers(weight_of(s), 2);
    tc_tensor tx = tensor_of(tc, x, s->batch, s->channels, s->height, s->width);
    tc_tensor tw = tensor_of(tc, w, s->results, s->channels, 3, 3);
    float *strict = run(tc, s, "order", TC_NUMERICS_STRICT, tx, tw);
    for (int i = 0; i < n; i += 7) {
        float sum = 0;
        for (int k = 0; k < s->channels * TAPS; k++) {
            int row = i / width % height - s->pad + k / 3 % 3,
                column = i % width - s->pad + k % 3;
            int inside = row >= 0 && row < s->height && column >= 0 && column < s->width;
            float a = inside ? x[(k / TAPS * s->height + row) * s->width + column] : 0;
            sum = fmaf(w[i / width / height * s->channels * TAPS + k], a, sum);
        }
        wrong += sum != strict[i];
    }
    CHECK_EQ(wrong, 0);
    tc_free(tx), tc_free(tw), free(x), free(w), free(strict);
}

// relu(conv(x) + bias), and a second one on it whose result x is added to, as in a residual network.
BOTH(what_stands_between_two_is_fused) {
    const shape s = {1, 32, 32, 24, 22, 1, 1, 1, 1, 1};
    int n = results_of(&s), cells = n / s.results;
    float *x = numbers(n, 1), *w = numbers(weight_of(&s), 2),
          *v = numbers(weight_of(&s), 3), *bias = numbers(s.results, 4),
          *got = (float *)calloc((size_t)n, sizeof *got);
    double *a = widened(x, n), *b = doubles(n), *c = doubles(n), *size = doubles(n),
           *most = doubles(n), *none = doubles(n);
    tc_tensor tx = tensor_of(tc, x, 1, s.channels, s.height, s.width), y;
    tc_tensor tw = tensor_of(tc, w, s.results, s.channels, 3, 3),
              tv = tensor_of(tc, v, s.results, s.channels, 3, 3),
              tb = tc_from_data(tc, bias, TC_DIMS(s.results), TC_F32);
    begin(tc, "block", shapes, TC_NUMERICS_FAST);
    y = tc_relu(tc_conv2d(tx, tw, tb, 1, s.pad, 1, 1));
    y = tc_relu(tc_add(convolution(&s, y, tv), tx));
    END();
    CHECK_EQ(tc_read(y, got, sizeof *got * (size_t)n), TC_OK);
    convolve(&s, a, w, b, most);
    for (int i = 0; i < n; i++) {
        b[i] += (double)bias[i / cells];
        most[i] = unit(TAPS * s.channels) * most[i] + unit(1) * fabs(b[i]);
        b[i] = b[i] > 0 ? b[i] : 0;
    }
    convolve(&s, b, v, c, size);
    for (int i = 0; i < weight_of(&s); i++) v[i] = fabsf(v[i]);
    convolve(&s, most, v, none, NULL); // what the first one's distance makes of the second
    for (int i = 0; i < n; i++) {
        c[i] += (double)x[i], c[i] = c[i] > 0 ? c[i] : 0;
        most[i] = none[i] + unit(TAPS * s.channels) * size[i] + unit(2) * (fabs(c[i]) + 1);
    }
    CHECK_EQ(count_far(got, c, most, n), 0);
    CHECK(has_fewer(tc));
    tc_free(tx), tc_free(tw), tc_free(tv), tc_free(tb), tc_free(y);
    free(x), free(w), free(v), free(bias), free(got);
    free(a), free(b), free(c), free(size), free(most), free(none);
}

// What image and weight count: the image's gradient is a convolution of `counts` with the taps turned round.
BOTH(gradients_stay_right) {
    const shape s = {2, 32, 48, 21, 24, 1, 1, 1, 1, 1}; // batch, channels, ...
    shape back = s;
    back.channels = s.results, back.results = s.channels;
    int n = image_of(&s), m = weight_of(&s), cells = s.height * s.width;
    float *x = numbers(n, 1), *w = numbers(m, 2), *counts = numbers(results_of(&s), 3);
    float *turned = (float *)calloc((size_t)m, sizeof *turned);
    float *got = (float *)calloc((size_t)(n + m), sizeof *got);
    tc_tensor tx = tensor_of(tc, x, s.batch, s.channels, s.height, s.width), dx, dw;
    tc_tensor tw = tensor_of(tc, w, s.results, s.channels, 3, 3);
    tc_tensor tg = tensor_of(tc, counts, s.batch, s.results, s.height, s.width);
    begin(tc, "gradients", shapes, TC_NUMERICS_FAST);
    tc_tensor wrt[2] = {tx, tw}, g[2],
              loss = tc_sum_all(tc_mul(convolution(&s, tx, tw), tg));
    CHECK_EQ(tc_grad(loss, wrt, 2, g), TC_OK);
    dx = tc_keep(g[0]), dw = tc_keep(g[1]);
    END();
    CHECK_EQ(tc_read(dx, got, sizeof *got * (size_t)n), TC_OK);
    CHECK_EQ(tc_read(dw, got + n, sizeof *got * (size_t)m), TC_OK);
    for (int i = 0; i < m; i++)
        turned[(i / TAPS % s.channels * s.results + i / TAPS / s.channels) * TAPS + 8 -
               i % TAPS] = w[i];
    double *dg = widened(counts, results_of(&s)), *want = doubles(n + m),
           *most = doubles(n + m);
    convolve(&back, dg, turned, want, most);
    for (int i = 0; i < n; i++) most[i] *= unit(TAPS * back.channels);
    for (int i = n; i < n + m; i++) {
        int k = (i - n) % TAPS, c = (i - n) / TAPS % s.channels,
            o = (i - n) / TAPS / s.channels;
        for (int at = 0; at < s.batch * cells; at++) {
            int row = at % cells / s.width + k / 3 - 1, column = at % s.width + k % 3 - 1;
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            int image = at / cells;
            double p = dg[(image * s.results + o) * cells + at % cells] *
                       (double)x[(image * s.channels + c) * cells + row * s.width + column];
            want[i] += p, most[i] += unit(s.batch * cells) * fabs(p);
        }
    }
    CHECK_EQ(count_far(got, want, most, n), 0);
    CHECK_EQ(count_far(got + n, want + n, most + n, m), 0);
    CHECK(has_fewer(tc));
    tc_free(tx), tc_free(tw), tc_free(tg), tc_free(dx), tc_free(dw);
    free(x), free(w), free(counts), free(turned), free(got), free(dg), free(want),
        free(most);
}

// The second batch size makes a program for all of them; an image has the same result in any batch.
BOTH(batches_of_run_time_size) {
    static const int batches[] = {2, 3, 1, 5};
    shape s = {5, 32, 32, 23, 25, 1, 1, 1, 1, 1};
    int most = results_of(&s), wrong = 0, far;
    float *x = numbers(image_of(&s), 1), *w = numbers(weight_of(&s), 2);
    float *first = (float *)calloc((size_t)most, sizeof *first), *got;
    double *dx = widened(x, image_of(&s)), *y = doubles(most), *bound = doubles(most);
    tc_tensor tw = tensor_of(tc, w, s.results, s.channels, 3, 3);
    convolve(&s, dx, w, y, bound);
    for (int i = 0; i < most; i++) bound[i] *= unit(TAPS * s.channels);
    for (int i = 0; i < 4; i++) {
        s.batch = batches[i];
        tc_tensor tx = tensor_of(tc, x, s.batch, s.channels, s.height, s.width);
        got = (float *)calloc((size_t)most, sizeof *got);
        begin(tc, "batches", shapes, TC_NUMERICS_FAST);
        tc_tensor z = convolution(&s, tx, tw);
        END();
        CHECK_EQ(tc_read(z, got, sizeof *got * (size_t)results_of(&s)), TC_OK);
        far = count_far(got, y, bound, results_of(&s));
        if (far) FAIL("batch of %d: %d are far", s.batch, far);
        if (!i) memcpy(first, got, sizeof *got * (size_t)results_of(&s));
        wrong += memcmp(first, got, sizeof *got * (size_t)(most / 5)) != 0;
        free(got), tc_free(tx), tc_free(z);
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(tc_stats_get(tc).programs, 3); // an image alone is recorded otherwise
    CHECK(has_fewer(tc));
    tc_free(tw), free(x), free(w), free(first), free(dx), free(y), free(bound);
}
