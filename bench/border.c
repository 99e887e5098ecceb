// What does a border cost? A stencil, a copy into the inside of a tensor and a concatenation
// with edges, against the same arithmetic without the border, or against plain C: written by
// hand, in this file, compiled as this file is (-O3 for the functions). One thread on both
// sides; ratio: our time / theirs, so 1 is a border that costs nothing.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { ROUNDS = 21, SIDE = 1024, MAPS = 4096, MAP = 14, ROWS = 1080, COLS = 1920 };
enum { SIDES = 4 };
static const int sides[SIDES] = {7, 10, 28, 56};
enum { EDGES = 4 };
static const int edged[EDGES][2] = {
    {1, 1024}, {16, 256}, {64, 128}, {200, 28}}; // maps, their side

#if defined(__GNUC__) && !defined(__clang__)
#    define O3            __attribute__((noinline, optimize("O3")))
#    define ALWAYS_INLINE __attribute__((always_inline, optimize("O3"))) inline
#else
#    define O3            __attribute__((noinline))
#    define ALWAYS_INLINE __attribute__((always_inline)) inline
#endif

typedef struct job {
    tc_ctx *tc;
    tc_tensor x, y;          // [SIDE, SIDE]
    tc_tensor maps;          // [MAPS, MAP, MAP]
    tc_tensor sized[SIDES];  // as many elements, of sides[i] x sides[i]
    tc_tensor edged[EDGES];  // [maps, side, side]
    tc_tensor image;         // [ROWS, COLS, 3] of u8
    tc_tensor base, strided; // [SIDE + 2, SIDE + 2], and its inside
    tc_fn *twice;
    float *to, *gray, *blurred, *edges;
    uint8_t *pixels;
} job;

// ---- ours ----

static tc_tensor shifted(tc_tensor x, int dy, int dx) {
    tc_tensor rows = tc_slice(x, -2, 1 + dy, tc_dim(x, -2) - 1 + dy, 1);
    return tc_slice(rows, -1, 1 + dx, tc_dim(x, -1) - 1 + dx, 1);
}

// x + k * (sum of four neighbours - 4 x), of the inside.
static tc_tensor heat_inside(tc_tensor x) {
    tc_tensor sum = tc_add(tc_add(shifted(x, -1, 0), shifted(x, 1, 0)),
                           tc_add(shifted(x, 0, -1), shifted(x, 0, 1)));
    tc_tensor middle = shifted(x, 0, 0);
    return tc_add(middle, tc_mul_s(tc_sub(sum, tc_mul_s(middle, 4)), 0.1));
}

static void heat_alone(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "heat, inside");
    heat_inside(j->x);
    tc_trace_end(j->tc);
}

static void heat_pad(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "heat, pad(inside)");
    tc_pad(heat_inside(j->x), TC_DIMS(1, 1), TC_DIMS(1, 1), 0);
    tc_trace_end(j->tc);
}

static void heat_cat(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "heat, cat(edges, inside)");
    tc_tensor x = j->x, inside = tc_slice(x, 0, 1, SIDE - 1, 1);
    tc_tensor row[3] = {tc_slice(inside, 1, 0, 1, 1), heat_inside(x),
                        tc_slice(inside, 1, SIDE - 1, SIDE, 1)};
    tc_tensor all[3] = {tc_slice(x, 0, 0, 1, 1), tc_cat(row, 3, 1),
                        tc_slice(x, 0, SIDE - 1, SIDE, 1)};
    tc_cat(all, 3, 0);
    tc_trace_end(j->tc);
}

static void heat_copy(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "heat, copy into the inside");
    tc_copy_(shifted(j->y, 0, 0), heat_inside(j->x));
    tc_trace_end(j->tc);
}

// The same with zeros around x instead.
static void heat_zero(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "heat of pad(x)");
    heat_inside(tc_pad(j->x, TC_DIMS(1, 1), TC_DIMS(1, 1), 0));
    tc_trace_end(j->tc);
}

// The mean of the TAPS x TAPS around every element that has them.
static tc_tensor mean_of(tc_tensor x, int taps) {
    int64_t high = tc_dim(x, -2) - taps + 1, wide = tc_dim(x, -1) - taps + 1;
    tc_tensor sum = tc_null();
    for (int at = 0; at < taps * taps; at++) {
        tc_tensor tap = tc_narrow(tc_narrow(x, -2, at / taps, high), -1, at % taps, wide);
        sum = at ? tc_add(sum, tap) : tap;
    }
    return tc_mul_s(sum, 1.0 / (taps * taps));
}

static void maps_blur(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "3x3 mean of maps");
    mean_of(tc_pad(j->maps, TC_DIMS(0, 1, 1), TC_DIMS(0, 1, 1), 0), 3);
    tc_trace_end(j->tc);
}

static void sized_blur(job *j, int i) {
    static const char *const name[SIDES] = {"maps of 7", "maps of 10", "maps of 28",
                                            "maps of 56"};
    tc_trace_begin(j->tc, name[i]);
    mean_of(tc_pad(j->sized[i], TC_DIMS(0, 1, 1), TC_DIMS(0, 1, 1), 0), 3);
    tc_trace_end(j->tc);
}

static void blur_7(void *user) { sized_blur((job *)user, 0); }
static void blur_10(void *user) { sized_blur((job *)user, 1); }
static void blur_28(void *user) { sized_blur((job *)user, 2); }
static void blur_56(void *user) { sized_blur((job *)user, 3); }

static void maps_blur_inside(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "3x3 mean of maps, inside");
    mean_of(j->maps, 3);
    tc_trace_end(j->tc);
}

static void maps_copy(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "copy of maps");
    tc_add_s(j->maps, 1);
    tc_trace_end(j->tc);
}

// Around maps: zeros, or nothing, so that it is their inside alone. Else a tc_pad_mode.
enum { BARE = -1, ZEROS = -2 };

// The mean of TAPS x TAPS of every element, of 1 = the sum of its four neighbours.
static void edge_sum(job *j, int i, int mode, int taps) {
    char name[40];
    snprintf(name, sizeof name, "edges %d %d %d", i, mode, taps);
    tc_trace_begin(j->tc, name);
    tc_tensor x = j->edged[i];
    int64_t far = taps > 1 ? taps / 2 : 1;
    tc_dims low = TC_DIMS(0, far, far);
    if (mode == ZEROS) x = tc_pad(x, low, low, 0);
    if (mode >= 0) x = tc_pad_with(x, low, low, (tc_pad_mode)mode);
    if (taps > 1)
        mean_of(x, taps);
    else
        tc_add(tc_add(shifted(x, -1, 0), shifted(x, 1, 0)),
               tc_add(shifted(x, 0, -1), shifted(x, 0, 1)));
    tc_trace_end(j->tc);
}

#define EDGE(name, i, mode, taps)                                                          \
    static void name(void *user) { edge_sum((job *)user, i, mode, taps); }
#define EDGE_OF(name, i, taps)                                                             \
    EDGE(name##_inside, i, BARE, taps)                                                     \
    EDGE(name##_reflect, i, TC_PAD_REFLECT, taps)                                          \
    EDGE(name##_replicate, i, TC_PAD_REPLICATE, taps)                                      \
    EDGE(name##_circular, i, TC_PAD_CIRCULAR, taps)
EDGE_OF(one, 0, 1)
EDGE_OF(some, 1, 1)
EDGE_OF(many, 2, 1)
EDGE_OF(nine_one, 0, 3)
EDGE_OF(nine_some, 1, 3)
EDGE_OF(nine_many, 2, 3)
EDGE_OF(nine_small, 3, 3)
EDGE_OF(five_some, 1, 5)
EDGE_OF(five_small, 3, 5)
EDGE_OF(seven_some, 1, 7)
EDGE_OF(seven_small, 3, 7)
EDGE(five_some_zeros, 1, ZEROS, 5)
EDGE(five_small_zeros, 3, ZEROS, 5)
EDGE(seven_some_zeros, 1, ZEROS, 7)
EDGE(seven_small_zeros, 3, ZEROS, 7)

// gray, 5x5 blur, Sobel, half the size
static tc_tensor edges(tc_tensor image, int pad) {
    static const double weight[5] = {1, 4, 6, 4, 1};
    tc_tensor f = tc_cast(image, TC_F32), gray = tc_null(), blur = tc_null();
    static const double luma[3] = {0.299, 0.587, 0.114};
    for (int i = 0; i < 3; i++) {
        tc_tensor part = tc_mul_s(tc_select(f, 2, i), luma[i]);
        gray = i ? tc_add(gray, part) : part;
    }
    int64_t h = tc_dim(gray, 0), w = tc_dim(gray, 1);
    if (pad) gray = tc_pad(gray, TC_DIMS(2, 2), TC_DIMS(2, 2), 0);
    if (!pad) h -= 4, w -= 4;
    for (int i = 0; i < 5; i++) {
        tc_tensor part = tc_mul_s(tc_narrow(gray, 0, i, h), weight[i] / 16);
        blur = i ? tc_add(blur, part) : part;
    }
    tc_tensor rows = blur;
    for (int i = 0; i < 5; i++) {
        tc_tensor part = tc_mul_s(tc_narrow(rows, 1, i, w), weight[i] / 16);
        blur = i ? tc_add(blur, part) : part;
    }
    if (pad) blur = tc_pad(blur, TC_DIMS(1, 1), TC_DIMS(1, 1), 0);
    tc_tensor gx = tc_add(tc_mul_s(tc_sub(shifted(blur, 0, 1), shifted(blur, 0, -1)), 2),
                          tc_add(tc_sub(shifted(blur, -1, 1), shifted(blur, -1, -1)),
                                 tc_sub(shifted(blur, 1, 1), shifted(blur, 1, -1))));
    tc_tensor gy = tc_add(tc_mul_s(tc_sub(shifted(blur, 1, 0), shifted(blur, -1, 0)), 2),
                          tc_add(tc_sub(shifted(blur, 1, -1), shifted(blur, -1, -1)),
                                 tc_sub(shifted(blur, 1, 1), shifted(blur, -1, 1))));
    tc_tensor e = tc_sqrt(tc_add(tc_mul(gx, gx), tc_mul(gy, gy)));
    int64_t eh = tc_dim(e, 0) / 2 * 2, ew = tc_dim(e, 1) / 2 * 2;
    tc_tensor out = tc_null();
    for (int i = 0; i < 4; i++) {
        tc_tensor part = tc_slice(tc_slice(e, 0, i / 2, eh, 2), 1, i % 2, ew, 2);
        out = i ? tc_add(out, part) : part;
    }
    return tc_mul_s(out, 0.25);
}

static void image_pad(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "image, padded");
    edges(j->image, 1);
    tc_trace_end(j->tc);
}

static void image_inside(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "image, inside");
    edges(j->image, 0);
    tc_trace_end(j->tc);
}

static void twice(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

static void into_view(void *user) {
    job *j = (job *)user;
    tc_call_into(j->twice, &j->x, 1, &j->strided, 1);
}

static void copy_view(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "copy into a view");
    tc_copy_(shifted(j->base, 0, 0), tc_mul_s(j->x, 2));
    tc_trace_end(j->tc);
}

static void plain_twice(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, "twice");
    tc_mul_s(j->x, 2);
    tc_trace_end(j->tc);
}

// ---- by hand ----

O3 static void heat_c(void *user) {
    job *j = (job *)user;
    const float *x = (const float *)tc_data(j->x);
    float *restrict to = j->to;
    for (int i = 0; i < SIDE; i++)
        to[i] = x[i], to[SIDE * SIDE - SIDE + i] = x[SIDE * SIDE - SIDE + i];
    for (int r = 1; r < SIDE - 1; r++) {
        const float *p = x + r * SIDE;
        float *q = to + r * SIDE;
        q[0] = p[0], q[SIDE - 1] = p[SIDE - 1];
        for (int c = 1; c < SIDE - 1; c++)
            q[c] = p[c] +
                   0.1f * ((p[c - SIDE] + p[c + SIDE]) + (p[c - 1] + p[c + 1]) - 4 * p[c]);
    }
}

// `side` is a constant where this is inlined.
ALWAYS_INLINE static void blur_c(const float *x, float *restrict to, int maps, int side) {
    static float pad[58 * 58];
    memset(pad, 0, sizeof pad);
    for (int m = 0; m < maps; m++, x += side * side, to += side * side) {
        for (int r = 0; r < side; r++)
            for (int c = 0; c < side; c++)
                pad[(r + 1) * (side + 2) + c + 1] = x[r * side + c];
        for (int r = 0; r < side; r++)
            for (int c = 0; c < side; c++) {
                const float *p = pad + r * (side + 2) + c;
                float s = p[side + 3];
                for (int at = 0; at < 9; at++)
                    if (at != 4) s += p[at / 3 * (side + 2) + at % 3];
                to[r * side + c] = s * (1.0f / 9);
            }
    }
}

#define BLUR_C(name, maps, side)                                                           \
    O3 static void name(void *user) {                                                      \
        job *j = (job *)user;                                                              \
        blur_c((const float *)tc_data(maps), j->to, (int)tc_dim(maps, 0), side);           \
    }
BLUR_C(maps_c, j->maps, MAP)
BLUR_C(maps_c_7, j->sized[0], 7)
BLUR_C(maps_c_10, j->sized[1], 10)
BLUR_C(maps_c_28, j->sized[2], 28)
BLUR_C(maps_c_56, j->sized[3], 56)

O3 static void image_c(void *user) {
    job *j = (job *)user;
    enum { W = COLS + 6 };
    const uint8_t *p = j->pixels;
    static const float k[5] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};
    float *gray = j->gray, *b = j->blurred, *e = j->edges, *to = j->to;
    static float down[W];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            const uint8_t *q = p + 3 * (r * COLS + c);
            gray[(r + 2) * W + c + 2] =
                0.299f * (float)q[0] + 0.587f * (float)q[1] + 0.114f * (float)q[2];
        }
    for (int r = 0; r < ROWS; r++) {
        const float *g = gray + r * W;
        for (int c = 0; c < COLS + 4; c++)
            down[c] = g[c] * k[0] + g[c + W] * k[1] + g[c + 2 * W] * k[2] +
                      g[c + 3 * W] * k[3] + g[c + 4 * W] * k[4];
        for (int c = 0; c < COLS; c++)
            b[(r + 1) * W + c + 1] = down[c] * k[0] + down[c + 1] * k[1] +
                                     down[c + 2] * k[2] + down[c + 3] * k[3] +
                                     down[c + 4] * k[4];
    }
    for (int r = 0; r < ROWS; r++) {
        const float *u = b + r * W, *m = u + W, *d = m + W;
        for (int c = 0; c < COLS; c++) {
            float gx = 2 * (m[c + 2] - m[c]) + (u[c + 2] - u[c]) + (d[c + 2] - d[c]);
            float gy = 2 * (d[c + 1] - u[c + 1]) + (d[c] - u[c]) + (d[c + 2] - u[c + 2]);
            e[r * W + c] = __builtin_sqrtf(gx * gx + gy * gy);
        }
    }
    for (int r = 0; r < ROWS / 2; r++)
        for (int c = 0; c < COLS / 2; c++) {
            const float *q = e + 2 * r * W + 2 * c;
            to[r * (COLS / 2) + c] = 0.25f * (q[0] + q[1] + q[W] + q[W + 1]);
        }
}

static const struct {
    const char *name;
    void (*ours)(void *user);
    void (*other)(void *user);
    double bar;
} rows[] = {
    {"heat, inside: plain C", heat_alone, heat_c, 1.1},
    {"heat, pad(inside): plain C", heat_pad, heat_c, 1.1},
    {"heat, cat(edges, inside): plain C", heat_cat, heat_c, 1.1},
    {"heat, copy into inside: plain C", heat_copy, heat_c, 1.1},
    {"heat of pad(x): plain C", heat_zero, heat_c, 1.1},
    {"heat, pad(inside): inside", heat_pad, heat_alone, 1.2},
    {"heat, cat: inside", heat_cat, heat_alone, 1.2},
    {"heat, copy: inside", heat_copy, heat_alone, 1.2},
    {"heat of pad(x): inside", heat_zero, heat_alone, 1.2},
    {"image 1080p: inside", image_pad, image_inside, 1.2},
    {"image 1080p: C", image_pad, image_c, 1.2},
    {"3x3 of 14x14: 3x3 of inside", maps_blur, maps_blur_inside, 0},
    {"3x3 of 14x14 maps: x + 1", maps_blur, maps_copy, 0},
    {"3x3 of 14x14 maps: plain C", maps_blur, maps_c, 1.2},
    {"3x3 of 7x7 maps: plain C", blur_7, maps_c_7, 1.2},
    {"3x3 of 10x10 maps: plain C", blur_10, maps_c_10, 1.2},
    {"3x3 of 28x28 maps: plain C", blur_28, maps_c_28, 1.2},
    {"3x3 of 56x56 maps: plain C", blur_56, maps_c_56, 1.2},
    {"reflect 1x1024^2: inside", one_reflect, one_inside, 1.2},
    {"replicate 1x1024^2: inside", one_replicate, one_inside, 1.2},
    {"circular 1x1024^2: inside", one_circular, one_inside, 1.2},
    {"reflect 16x256^2: inside", some_reflect, some_inside, 1.2},
    {"replicate 16x256^2: inside", some_replicate, some_inside, 1.2},
    {"circular 16x256^2: inside", some_circular, some_inside, 1.2},
    {"reflect 64x128^2: inside", many_reflect, many_inside, 1.2},
    {"replicate 64x128^2: inside", many_replicate, many_inside, 1.2},
    {"circular 64x128^2: inside", many_circular, many_inside, 1.2},
    {"3x3 reflect 1x1024^2: inside", nine_one_reflect, nine_one_inside, 1.2},
    {"3x3 replicate 1x1024^2: inside", nine_one_replicate, nine_one_inside, 1.2},
    {"3x3 circular 1x1024^2: inside", nine_one_circular, nine_one_inside, 1.2},
    {"3x3 reflect 16x256^2: inside", nine_some_reflect, nine_some_inside, 1.2},
    {"3x3 replicate 16x256^2: inside", nine_some_replicate, nine_some_inside, 1.2},
    {"3x3 circular 16x256^2: inside", nine_some_circular, nine_some_inside, 1.2},
    {"3x3 reflect 64x128^2: inside", nine_many_reflect, nine_many_inside, 1.2},
    {"3x3 replicate 64x128^2: inside", nine_many_replicate, nine_many_inside, 1.2},
    {"3x3 circular 64x128^2: inside", nine_many_circular, nine_many_inside, 1.2},
    {"3x3 reflect 200x28^2: inside", nine_small_reflect, nine_small_inside, 0},
    {"3x3 replicate 200x28^2: inside", nine_small_replicate, nine_small_inside, 0},
    {"3x3 circular 200x28^2: inside", nine_small_circular, nine_small_inside, 0},
    {"5x5 reflect 16x256^2: inside", five_some_reflect, five_some_inside, 1.2},
    {"5x5 replicate 16x256^2: inside", five_some_replicate, five_some_inside, 1.2},
    {"5x5 circular 16x256^2: inside", five_some_circular, five_some_inside, 1.2},
    {"5x5 zeros 16x256^2: inside", five_some_zeros, five_some_inside, 1.2},
    {"5x5 reflect 200x28^2: inside", five_small_reflect, five_small_inside, 0},
    {"5x5 replicate 200x28^2: inside", five_small_replicate, five_small_inside, 0},
    {"5x5 circular 200x28^2: inside", five_small_circular, five_small_inside, 0},
    {"5x5 zeros 200x28^2: inside", five_small_zeros, five_small_inside, 0},
    {"7x7 reflect 16x256^2: inside", seven_some_reflect, seven_some_inside, 1.2},
    {"7x7 replicate 16x256^2: inside", seven_some_replicate, seven_some_inside, 1.2},
    {"7x7 circular 16x256^2: inside", seven_some_circular, seven_some_inside, 1.2},
    {"7x7 zeros 16x256^2: inside", seven_some_zeros, seven_some_inside, 1.2},
    {"7x7 reflect 200x28^2: inside", seven_small_reflect, seven_small_inside, 0},
    {"7x7 replicate 200x28^2: inside", seven_small_replicate, seven_small_inside, 0},
    {"7x7 circular 200x28^2: inside", seven_small_circular, seven_small_inside, 0},
    {"7x7 zeros 200x28^2: inside", seven_small_zeros, seven_small_inside, 0},
    {"call_into a view: copy_ in region", into_view, copy_view, 1.2},
    {"copy into a view: to a new tensor", copy_view, plain_twice, 0},
};

int main(int argc, char **argv) {
    job j;
    int missed = 0;
    j.tc = bench_open(1);
    j.x = bench_randn(j.tc, TC_DIMS(SIDE, SIDE), 1);
    j.y = bench_randn(j.tc, TC_DIMS(SIDE, SIDE), 2);
    j.maps = bench_randn(j.tc, TC_DIMS(MAPS, MAP, MAP), 3);
    for (int i = 0; i < SIDES; i++)
        j.sized[i] = bench_randn(
            j.tc, TC_DIMS(MAPS * MAP * MAP / (sides[i] * sides[i]), sides[i], sides[i]), 5);
    for (int i = 0; i < EDGES; i++)
        j.edged[i] = bench_randn(j.tc, TC_DIMS(edged[i][0], edged[i][1], edged[i][1]), 6);
    j.base = bench_randn(j.tc, TC_DIMS(SIDE + 2, SIDE + 2), 4);
    j.strided = shifted(j.base, 0, 0);
    j.twice = tc_compile(j.tc, twice, NULL, 0, NULL);
    j.to = bench_floats(ROWS * COLS);
    j.gray = bench_floats((COLS + 6) * (ROWS + 6));
    j.blurred = bench_floats((COLS + 6) * (ROWS + 6));
    j.edges = bench_floats((COLS + 6) * (ROWS + 6));
    j.pixels = (uint8_t *)bench_floats(ROWS * COLS * 3 / 4);
    for (int i = 0; i < ROWS * COLS * 3; i++)
        j.pixels[i] = (uint8_t)(i * 2654435761u >> 24);
    j.image = tc_wrap(j.tc, j.pixels, TC_DIMS(ROWS, COLS, 3), TC_U8);
    bench_head("ours", "other", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_side side[2] = {{rows[i].ours, &j, 0}, {rows[i].other, &j, 0}};
        if (argc > 1 && !strstr(rows[i].name, argv[1])) continue;
        bench_interleave(side, 2, ROUNDS);
        bench_check(j.tc);
        missed += bench_row(rows[i].name, side[0].ns, side[1].ns, side[0].ns / side[1].ns,
                            rows[i].bar > 0 ? BENCH_AT_MOST : BENCH_NO_BAR, rows[i].bar);
    }
    tc_close(j.tc);
    return bench_status(missed);
}
