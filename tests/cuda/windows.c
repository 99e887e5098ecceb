// Stencils on a device: sums of shifted images, whose loads are read once per thread (the form "window"),
// against sums in double. Sizes that divide into nothing, borders that are filled, images that end inside
// of a thread's rows, and shifts that are too far apart for a window.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"
#include "tools/nvrtc.h"

#include <math.h>

enum { MOST_TAPS = 49, ANY = -1 };

typedef struct tap {
    int down, right;
    double weight;
} tap;

typedef struct stencil {
    int64_t n, h, w;
    int dtype;
    int border; // elements around each image, of value `fill`
    double fill;
    int taps;
    tap tap[MOST_TAPS];
    int rows, columns; // of the window of a thread; 0 = there is none, ANY = there is one
} stencil;

// taps x taps places, each with a weight of its own.
static stencil box(int64_t n, int64_t h, int64_t w, int dtype, int border, int taps,
                   int rows, int columns) {
    stencil s;
    memset(&s, 0, sizeof s);
    s.n = n, s.h = h, s.w = w, s.dtype = dtype, s.border = border, s.rows = rows,
    s.columns = columns;
    for (int i = 0; i < taps; i++)
        for (int k = 0; k < taps; k++) {
            tap *t = &s.tap[s.taps++];
            t->down = i, t->right = k, t->weight = 0.125 * (i + 1) - 0.25 * k;
        }
    return s;
}

static void add_tap(stencil *s, int down, int right, double weight) {
    tap *t = &s->tap[s->taps++];
    t->down = down, t->right = right, t->weight = weight;
}

static void reach(const stencil *s, int *down, int *right) {
    *down = *right = 0;
    for (int i = 0; i < s->taps; i++) {
        if (s->tap[i].down > *down) *down = s->tap[i].down;
        if (s->tap[i].right > *right) *right = s->tap[i].right;
    }
}

// Sixty-fourths from -1 to 1, which every float type holds; of bytes, 0 to 255.
static double pixel(const stencil *s, int64_t i) {
    unsigned x = test_word((unsigned)i, 0);
    return s->dtype == TC_U8 ? (double)(x % 256) : (double)((int)(x % 129) - 64) / 64;
}

static double at(const stencil *s, int64_t image, int64_t row, int64_t column) {
    row -= s->border, column -= s->border;
    if (row < 0 || row >= s->h || column < 0 || column >= s->w) return s->fill;
    return pixel(s, (image * s->h + row) * s->w + column);
}

static tc_tensor image_of(tc_ctx *tc, const stencil *s) {
    int64_t numel = s->n * s->h * s->w;
    double *p = (double *)calloc((size_t)numel, sizeof *p);
    for (int64_t i = 0; i < numel; i++) p[i] = pixel(s, i);
    tc_tensor t = tc_from_data(tc, p, TC_DIMS(s->n, s->h, s->w), TC_F64);
    free(p);
    return tc_to(tc_cast(t, s->dtype), DEVICE_NAME);
}

static tc_tensor sum_of(tc_tensor x, const stencil *s, int64_t h, int64_t w) {
    tc_dims border = TC_DIMS(0, s->border, s->border);
    tc_tensor sum = tc_null();
    if (s->border) x = tc_pad(x, border, border, s->fill);
    for (int i = 0; i < s->taps; i++) {
        tc_tensor rows = tc_narrow(x, 1, s->tap[i].down, h);
        tc_tensor part = tc_narrow(rows, 2, s->tap[i].right, w);
        if (s->dtype == TC_U8) part = tc_cast(part, TC_F32);
        part = tc_mul_s(part, s->tap[i].weight);
        sum = i ? tc_add(sum, part) : part;
    }
    return sum;
}

static double tolerance_of(int dtype) {
    return dtype == TC_F64    ? 1e-15
           : dtype == TC_F16  ? 1.0 / 1024
           : dtype == TC_BF16 ? 1.0 / 128
                              : 1e-6;
}

static void check_sums(const stencil *s, const double *got, int64_t h, int64_t w) {
    double tolerance = tolerance_of(s->dtype);
    for (int64_t i = 0; i < s->n * h * w; i++) {
        int64_t image = i / (h * w), row = i / w % h, column = i % w;
        double want = 0, size = 0;
        for (int k = 0; k < s->taps; k++) {
            const tap *t = &s->tap[k];
            double v = t->weight * at(s, image, row + t->down, column + t->right);
            want += v, size += fabs(v);
        }
        if (fabs(got[i] - want) <= tolerance * size) continue;
        FAIL("image %d row %d column %d: %g, not %g", (int)image, (int)row, (int)column,
             got[i], want);
        return;
    }
}

// What a thread has read stays in its registers.
static void check_registers(const char *source) {
    static const char *const archs[] = {"sm_80", "sm_90a"};
    for (int i = 0; i < 2 && !nvrtc_open(); i++) {
        nvrtc_result r;
        int ok = nvrtc_compile(source, archs[i], &r);
        CHECK((ok && !strstr(r.log, "warning") && !nvrtc_spills(&r) &&
               !nvrtc_reads_early(&r)) ||
              FAIL("%s: %.3000s", archs[i], r.log));
        nvrtc_free(&r);
    }
}

static void run(const stencil *s) {
    int down, right;
    reach(s, &down, &right);
    int64_t h = s->h + 2 * s->border - down, w = s->w + 2 * s->border - right;
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    tc_tensor x = image_of(tc, s);
    double *got = (double *)calloc((size_t)(s->n * h * w), sizeof *got);
    uint64_t kernels = tc_stats_get(tc).kernel_runs;
    tc_trace_begin(tc, "stencil");
    tc_tensor y = sum_of(x, s, h, w);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).kernel_runs - kernels, 1);
    const char *source = tc_region_source(tc, "stencil");
    char held[40] = "held0[", kept[40] = "tc_kept<"; // or halves as words
    if (s->rows > 0) snprintf(held, sizeof held, "held0[%d];", s->rows * s->columns);
    if (s->rows > 0)
        snprintf(kept, sizeof kept, "tc_kept<%d> held0;", s->rows * s->columns);
    CHECK((!strstr(source, held) && !strstr(source, kept)) == !s->rows ||
          FAIL("'%s' in\n%s", held, strstr(source, "extern")));
    CHECK(!strstr(source, "held1["));
    check_registers(source);
    tc_tensor back = tc_to(tc_cast(y, TC_F64), "cpu");
    CHECK_EQ(tc_read(back, got, (size_t)(s->n * h * w) * sizeof *got), TC_OK);
    CHECK_STR(tc_error_text(tc), "");
    check_sums(s, got, h, w);
    free(got);
    tc_close(tc);
    check_device_closed();
}

TEST(boxes) {
    stencil s = box(1, 64, 96, TC_F32, 0, 3, 3, 4);
    run(&s);
    s = box(1, 61, 67, TC_F32, 0, 3, 0, 0); // threads of one element share nothing
    run(&s);
    s = box(1, 40, 72, TC_F64, 0, 5, 5, 6);
    run(&s);
}

TEST(borders) {
    stencil s = box(1, 40, 128, TC_F32, 1, 3, 3, 6);
    run(&s);
    s = box(1, 39, 130, TC_F32, 1, 3, 3, 4);
    s.fill = -1.5;
    run(&s);
    s = box(1, 30, 128, TC_F32, 3, 7, 7, 10);
    s.fill = 3;
    run(&s);
}

TEST(dtypes) {
    stencil s = box(2, 24, 128, TC_BF16, 1, 3, 3, 10);
    run(&s);
    s = box(1, 20, 64, TC_F16, 0, 5, 5, 8);
    run(&s);
    s = box(1, 24, 128, TC_U8, 1, 3, ANY, 0);
    run(&s);
}

// Threads have several rows where there are blocks enough.
TEST(rows_of_a_thread) {
    stencil s = box(1, 1030, 1027, TC_F32, 0, 3, 6, 3);
    run(&s); // the last thread's rows end behind the image
    s = box(5, 424, 1024, TC_F32, 1, 3, 6, 6);
    run(&s);
    s = box(3, 1062, 512, TC_BF16, 0, 3, 6, 4);
    run(&s);
}

// The rows of an image are no multiple of the rows that a thread could have.
TEST(images_end_between_rows) {
    stencil s = box(6, 359, 1024, TC_F32, 1, 3, 3, 6);
    run(&s);
    s = box(3, 33, 40, TC_F32, 0, 5, 5, 8);
    run(&s);
}

TEST(few_taps) {
    stencil s = box(1, 50, 128, TC_F32, 1, 0, 3, 6);
    add_tap(&s, 0, 1, 0.25), add_tap(&s, 1, 0, 0.5), add_tap(&s, 1, 1, -2);
    add_tap(&s, 1, 2, 0.75), add_tap(&s, 2, 1, 1);
    run(&s);
    s = box(1, 1, 5001, TC_F32, 0, 0, 1, 5);
    add_tap(&s, 0, 0, -1), add_tap(&s, 0, 1, 1);
    run(&s);
    s = box(1, 1100, 1026, TC_F32, 0, 0, 5, 2);
    add_tap(&s, 0, 0, -1), add_tap(&s, 1, 0, 1), add_tap(&s, 0, 1, 1);
    run(&s);
}

// Reading all between these would be more than reading them.
TEST(far_apart) {
    stencil s = box(1, 50, 64, TC_F32, 0, 0, 0, 0);
    add_tap(&s, 0, 0, 1), add_tap(&s, 0, 12, 2), add_tap(&s, 20, 0, -1);
    run(&s);
    s = box(1, 50, 64, TC_F32, 0, 0, 0, 0);
    add_tap(&s, 0, 0, 1), add_tap(&s, 9, 9, 2);
    run(&s);
}

// Two images, a factor for each column, and rows and columns that are known when it runs.
static void visit(tc_ctx *tc, int64_t h, int64_t w) {
    stencil s = box(1, h, w, TC_F32, 1, 3, ANY, 0);
    double *got = (double *)calloc((size_t)(h * w), sizeof *got);
    tc_scope_begin(tc);
    tc_tensor x = image_of(tc, &s),
              ramp = tc_to(tc_arange(tc, 0, (double)w, 1, TC_F32), DEVICE_NAME);
    tc_tensor twice = tc_to(tc_mul_s(x, 2), DEVICE_NAME);
    tc_trace_begin(tc, "symbolic");
    tc_tensor a = sum_of(x, &s, h, w), b = sum_of(twice, &s, h, w);
    tc_tensor y = tc_keep(tc_mul(tc_sub(b, a), ramp));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_tensor back = tc_to(tc_cast(y, TC_F64), "cpu");
    CHECK_EQ(tc_read(back, got, (size_t)(h * w) * sizeof *got), TC_OK);
    for (int64_t i = 0; i < h * w; i++) got[i] = i % w ? got[i] / (double)(i % w) : got[i];
    for (int64_t row = 0; row < h; row++) { // column 0 was multiplied by 0
        CHECK_EQ(got[row * w], 0);
        for (int k = 0; k < s.taps; k++)
            got[row * w] +=
                s.tap[k].weight * at(&s, 0, row + s.tap[k].down, s.tap[k].right);
    }
    check_sums(&s, got, h, w);
    free(got);
    tc_free(y);
    tc_scope_end(tc);
    CHECK_STR(tc_error_text(tc), "");
}

TEST(run_time_sizes) {
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    visit(tc, 40, 64), visit(tc, 41, 64), visit(tc, 37, 50), visit(tc, 29, 77),
        visit(tc, 44, 128);
    tc_close(tc);
    check_device_closed();
}
