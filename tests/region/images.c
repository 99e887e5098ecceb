// Images whose heights and widths are known at run time only: one program for all of them has the sums in their order, and
// the bits of programs of their own; gradients, too, which are held against sums in double. Interpreted, and compiled
// for this CPU and for older ones.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { MOST = 1 << 16 };

typedef enum kind { CONVOLVE, TRANSPOSE, MAX_POOL, AVG_POOL } kind;

typedef struct shape {
    kind kind;
    int channels, results, tall, broad, stride, pad, dilation, groups;
} shape;

static const shape shapes[] = {
    {CONVOLVE, 5, 20, 3, 3, 1, 1, 1, 1}, // the usual one
    {CONVOLVE, 3, 16, 7, 7, 2, 3, 1, 1}, // steps, images smaller than a window
    {CONVOLVE, 9, 33, 3, 2, 1, 3, 2, 1}, // holes, a border that is wider than what windows share
    {CONVOLVE, 44, 70, 3, 3, 1, 0, 1, 1}, // slices, no border
    {CONVOLVE, 8, 18, 1, 1, 2, 0, 1, 1},  // places alone
    {CONVOLVE, 8, 20, 1, 1, 1, 0, 1, 1},  // all of them
    {CONVOLVE, 4, 3, 3, 3, 1, 1, 1, 1},   // fewer results than a vector has
    {CONVOLVE, 8, 20, 2, 3, 3, 1, 1, 2},  // groups
    {CONVOLVE, 6, 6, 3, 3, 1, 1, 1, 6},   // by channel
    {TRANSPOSE, 8, 12, 4, 4, 2, 1, 1, 1}, // phases alike
    {TRANSPOSE, 10, 5, 3, 3, 2, 1, 1, 1}, //   and not
    {TRANSPOSE, 6, 9, 2, 2, 2, 0, 1, 1},  //   of one tap
    {TRANSPOSE, 4, 16, 3, 2, 3, 0, 1, 2}, //   of rows in threes, and groups
    {CONVOLVE, 20, 12, 3, 3, 2, 1, 1, 1}, // steps, and what the image counts by phases
    {CONVOLVE, 10, 12, 5, 3, 2, 2, 2, 1}, //   of holes as well
    {CONVOLVE, 9, 12, 4, 5, 3, 0, 1, 1},  //   and rows that no window reads
    {CONVOLVE, 9, 12, 3, 3, 1, 5, 1, 1},  // a border that whole windows fit in
    {MAX_POOL, 5, 5, 3, 3, 2, 1, 1, 1},   {AVG_POOL, 5, 5, 2, 2, 2, 0, 1, 1},
    {MAX_POOL, 3, 3, 9, 9, 1, 4, 1, 1}, // a sum of many
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

// Of images, those after the second have a program that is there.
static const int sizes[][3] = {{2, 7, 9},  {2, 9, 12}, {2, 3, 29}, {2, 2, 5},
                               {2, 17, 6}, {3, 10, 9}, {4, 8, 8}};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct images {
    const shape *s;
    int batch, in[2], out[2];
    const float *x, *w;
} images;

static int out_of(const shape *s, int in, int taps) {
    int reach = s->dilation * (taps - 1);
    if (s->kind == TRANSPOSE) return (in - 1) * s->stride - 2 * s->pad + reach + 1;
    return in + 2 * s->pad <= reach ? 0 : (in + 2 * s->pad - reach - 1) / s->stride + 1;
}

static images images_of(const shape *s, const int *size, const float *x, const float *w) {
    images m;
    m.s = s, m.batch = size[0], m.x = x, m.w = w;
    for (int i = 0; i < 2; i++) {
        m.in[i] = size[1 + i];
        m.out[i] = out_of(s, m.in[i], i ? s->broad : s->tall);
    }
    return m;
}

// The place of the image that meets result `to` by a tap; -1 = none.
static int place_of(const images *m, int axis, int tap, int to) {
    const shape *s = m->s;
    int at = to * s->stride - s->pad + tap * s->dilation;
    if (s->kind == TRANSPOSE) {
        at = to + s->pad - tap * s->dilation;
        if (at % s->stride) return -1;
        at /= s->stride;
    }
    return at >= 0 && at < m->in[axis] ? at : -1;
}

// Where what tap (i, j) of channel c says of a result lies in x and in w; 0 = beside the image.
static int meets(const images *m, int image, int result, const int *to, int c, int i, int j,
                 int *at, int *of) {
    const shape *s = m->s;
    int own = s->channels / s->groups, each = s->results / s->groups, g = result / each;
    int y = place_of(m, 0, i, to[0]), x = place_of(m, 1, j, to[1]);
    if (y < 0 || x < 0) return 0;
    int from = s->kind == CONVOLVE || s->kind == TRANSPOSE ? g * own + c : result;
    *at = ((image * s->channels + from) * m->in[0] + y) * m->in[1] + x;
    int row = s->kind == TRANSPOSE ? from * each + result % each : result * own + c;
    *of = (row * s->tall + i) * s->broad + j;
    return 1;
}

// The sum of a result in its order, one fused multiply-add a step; of a transposed one from the last tap on.
static float expected(const images *m, int image, int result, const int *to) {
    const shape *s = m->s;
    int own = s->channels / s->groups, taps = s->tall * s->broad, at, of;
    int pools = s->kind == MAX_POOL || s->kind == AVG_POOL;
    float sum = s->kind == MAX_POOL ? -INFINITY : 0;
    for (int c = 0; c < (pools ? 1 : own); c++)
        for (int k = 0; k < taps; k++) {
            int tap = s->kind == TRANSPOSE ? taps - 1 - k : k;
            if (!meets(m, image, result, to, c, tap / s->broad, tap % s->broad, &at, &of))
                continue;
            if (s->kind == MAX_POOL)
                sum = fmaxf(sum, m->x[at]);
            else if (pools)
                sum += m->x[at];
            else
                sum = fmaf(m->w[of], m->x[at], sum);
        }
    return s->kind == AVG_POOL ? sum / (float)taps : sum;
}

static void check_result(const images *m, const float *got) {
    int wrong = 0, at = 0, to[2];
    for (int image = 0; image < m->batch; image++)
        for (int result = 0; result < m->s->results; result++)
            for (to[0] = 0; to[0] < m->out[0]; to[0]++)
                for (to[1] = 0; to[1] < m->out[1]; to[1]++, at++)
                    wrong += got[at] != expected(m, image, result, to);
    if (wrong)
        FAIL("shape %d of %dx%dx%d: %d of %d are wrong", (int)(m->s - shapes), m->batch,
             m->in[0], m->in[1], wrong, at);
}

// Gradients of half the sum of squares y: each y times what it was made of.
static void check_gradients(const images *m, const float *y, const float *dx, int nx,
                            const float *dw, int nw) {
    static double want[2][MOST], size[2][MOST];
    const shape *s = m->s;
    const float *got[2] = {dx, dw};
    int own = s->channels / s->groups, at, of, to[2], wrong = 0, n[2] = {nx, nw};
    memset(want, 0, sizeof want), memset(size, 0, sizeof size);
    for (int i = 0; i < m->batch * s->results * m->out[0] * m->out[1]; i++) {
        int image = i / (s->results * m->out[0] * m->out[1]);
        to[0] = i / m->out[1] % m->out[0], to[1] = i % m->out[1];
        for (int k = 0; k < own * s->tall * s->broad; k++) {
            int tap = k % (s->tall * s->broad);
            if (!meets(m, image, i / (m->out[0] * m->out[1]) % s->results, to,
                       k / (s->tall * s->broad), tap / s->broad, tap % s->broad, &at, &of))
                continue;
            want[0][at] += (double)y[i] * m->w[of], want[1][of] += (double)y[i] * m->x[at];
            size[0][at] += fabs((double)y[i] * m->w[of]);
            size[1][of] += fabs((double)y[i] * m->x[at]);
        }
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n[k]; i++)
            wrong += !(fabs(got[k][i] - want[k][i]) <= 1e-6 * size[k][i] + 1e-30);
    if (wrong)
        FAIL("shape %d of %dx%dx%d: %d gradients are wrong", (int)(s - shapes), m->batch,
             m->in[0], m->in[1], wrong);
}

static tc_tensor forward(const shape *s, tc_tensor x, tc_tensor w) {
    tc_tensor none = {0};
    switch (s->kind) {
    case TRANSPOSE:
        return tc_conv_transpose2d(x, w, none, s->stride, s->pad, 0, s->dilation,
                                   s->groups);
    case MAX_POOL: return tc_max_pool2d(x, s->tall, s->stride, s->pad);
    case AVG_POOL: return tc_avg_pool2d(x, s->tall, s->stride, s->pad);
    case CONVOLVE: break;
    }
    return tc_conv2d(x, w, none, s->stride, s->pad, s->dilation, s->groups);
}

static tc_tensor weight_of(tc_ctx *tc, const shape *s, const float *w) {
    int64_t each = s->results / s->groups, own = s->channels / s->groups;
    if (s->kind == TRANSPOSE)
        return tc_from_data(tc, w, TC_DIMS(s->channels, each, s->tall, s->broad), TC_F32);
    return tc_from_data(tc, w, TC_DIMS(s->results, own, s->tall, s->broad), TC_F32);
}

// The result and, if there is a weight, gradients of images m by region `name`, behind each other in `got`.
static size_t visit(tc_ctx *tc, const char *name, const images *m, tc_dynamic dynamic,
                    int gradients, float *got) {
    const shape *s = m->s;
    tc_options o = tc_options_default();
    size_t n = 0;
    o.dynamic = dynamic;
    tc_scope_begin(tc);
    tc_tensor in[2], out[3];
    in[0] =
        tc_from_data(tc, m->x, TC_DIMS(m->batch, s->channels, m->in[0], m->in[1]), TC_F32);
    in[1] = weight_of(tc, s, m->w);
    tc_trace_begin_with(tc, name, &o);
    out[0] = forward(s, in[0], in[1]);
    if (gradients)
        tc_grad(tc_mul_s(tc_sum_all(tc_mul(out[0], out[0])), 0.5), in, 2, out + 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_dim(out[0], 2), m->out[0]), CHECK_EQ(tc_dim(out[0], 3), m->out[1]);
    for (int i = 0; i < (gradients ? 3 : 1); i++) {
        size_t count = (size_t)tc_numel(out[i]);
        if (!CHECK(n + count <= 4 * MOST)) break;
        CHECK_EQ(tc_read(out[i], got + n, count * sizeof *got), TC_OK);
        n += count;
    }
    tc_scope_end(tc);
    return n;
}

typedef struct form {
    const char *backend, *isa;
    int threads, own; // own: programs of their own as well
} form;

// Every `step`th shape.
static void run_all(form f, int gradients, int step) {
    static float x[MOST], w[MOST], got[2][4 * MOST];
    tc_config config = tc_config_default();
    config.backend = f.backend, config.isa = f.isa, config.threads = f.threads;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(tc);
    for (int i = 0; i < MOST; i++) x[i] = (float)test_number((unsigned)i, 1);
    for (int i = 0; i < MOST; i++) w[i] = (float)test_number((unsigned)i, 2);
    for (int i = step - 1; i < SHAPES; i += step) {
        const shape *s = &shapes[i];
        int has_weight = s->kind == CONVOLVE || s->kind == TRANSPOSE;
        char name[2][40];
        snprintf(name[0], sizeof name[0], "any size %d", i);
        snprintf(name[1], sizeof name[1], "own size %d", i);
        if (gradients && !has_weight) continue;
        for (int k = 0; k < SIZES; k++) {
            images m = images_of(s, sizes[k], x, w);
            if (m.out[0] < 1 || m.out[1] < 1) continue;
            int nx = m.batch * s->channels * m.in[0] * m.in[1],
                ny = m.batch * s->results * m.out[0] * m.out[1],
                nw = s->channels / s->groups * s->results * s->tall * s->broad;
            REQUIRE(nx <= MOST && ny <= MOST && nw <= MOST);
            size_t n = visit(tc, name[0], &m, TC_DYNAMIC_AUTO, gradients, got[0]);
            check_result(&m, got[0]);
            if (gradients)
                check_gradients(&m, got[0], got[0] + ny, nx, got[0] + ny + nx, nw);
            if (!f.own) continue;
            CHECK_EQ(visit(tc, name[1], &m, TC_DYNAMIC_OFF, gradients, got[1]), n);
            if (memcmp(got[0], got[1], n * sizeof(float)))
                FAIL("%s: %dx%dx%d has other bits", name[0], m.batch, m.in[0], m.in[1]);
        }
        int programs = tc_explain_counts(tc, name[0]).programs; // a size of 1 has its own
        if (programs > 5) FAIL("%s: %d programs", name[0], programs);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

static const form interpreted = {"aot_eager", NULL, 2, 0}, own = {"aot_eager", NULL, 2, 1},
                  compiled = {"cpu", NULL, 2, 0}, one = {"cpu", NULL, 1, 1},
                  avx2 = {"cpu", "avx2", 3, 0}, baseline = {"cpu", "baseline", 2, 0};

TEST(interpreted_ones) { run_all(interpreted, 0, 1); }
TEST(compiled_ones) { run_all(compiled, 0, 1); }
TEST(own_bits) { run_all(own, 1, 1), run_all(one, 0, 5); }
TEST(gradients) { run_all(compiled, 1, 2); }
TEST(older_cpus) { run_all(avx2, 0, 3), run_all(baseline, 0, 4); }
