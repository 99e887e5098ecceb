// Programs that are long: the stack does not grow with them (all of this runs on 128 KB of it, what
// a thread of musl has), kernels are bounded, equal stretches share a text.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

#include <pthread.h>

// ---- a stack of 128 KB ----

enum { STACK = 128 << 10, ROWS = 3, COLUMNS = 8, CELLS = ROWS * COLUMNS };

typedef struct job {
    void (*run)(tc_ctx *tc);
    tc_ctx *tc;
} job;

static void *run_job(void *user) {
    job *j = (job *)user;
    j->run(j->tc);
    return NULL;
}

static void on_small_stack(void (*run)(tc_ctx *tc), const char *backend) {
    pthread_attr_t attr;
    pthread_t thread;
    job j;
    if (TEST_SANITIZED) return; // their frames are larger
    j.run = run, j.tc = open_backend(backend);
    REQUIRE(j.tc);
    REQUIRE(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, STACK));
    REQUIRE(!pthread_create(&thread, &attr, run_job, &j));
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    if (tc_error(j.tc)) FAIL("error left over: %s", tc_error_text(j.tc));
    tc_close(j.tc);
}

#define SMALL_STACK(name, backend)                                                         \
    static void stack_##name(tc_ctx *tc);                                                  \
    TEST(small_stack_##name) { on_small_stack(stack_##name, backend); }                    \
    static void stack_##name(tc_ctx *tc)

static tc_tensor image(tc_ctx *tc) {
    return tc_reshape(line(tc, CELLS, 0.5, 0.0625), TC_DIMS(ROWS, COLUMNS));
}

static double image_at(int i) { return 0.5 + i * 0.0625; }

static void check_image(tc_tensor t, const double *want, double rounding) {
    float got[CELLS];
    CHECK_EQ(tc_read(t, got, sizeof got), TC_OK);
    for (int i = 0; i < CELLS; i++)
        if (fabs((double)got[i] - want[i]) > rounding * (fabs(want[i]) + 1e-6))
            FAIL("element %d is %.9g, not %.9g", i, (double)got[i], want[i]);
}

// x = 0.5 x + 1 goes to 2, whatever it was.
static tc_tensor halved(tc_tensor x, int steps) {
    for (int i = 0; i < steps; i++) x = tc_add_s(tc_mul_s(x, 0.5), 1);
    return x;
}

static void check_all(tc_tensor t, double want, double rounding) {
    double all[CELLS];
    for (int i = 0; i < CELLS; i++) all[i] = want;
    check_image(t, all, rounding);
}

static void check_halved(tc_ctx *tc, int steps) {
    tc_tensor x = image(tc);
    for (int visit = 0; visit < 2; visit++) {
        BEGIN("halved");
        tc_tensor y = tc_keep(halved(x, steps));
        END();
        check_all(y, 2, 1e-6);
    }
}

SMALL_STACK(arithmetic, "aot_eager") { check_halved(tc, 12000); }
SMALL_STACK(arithmetic_compiled, "cpu") { check_halved(tc, 2000); }

SMALL_STACK(math, "cpu") {
    double want[CELLS];
    tc_tensor x = image(tc), y = x;
    BEGIN("sines");
    for (int i = 0; i < 500; i++) y = tc_sin(y);
    tc_keep(y);
    END();
    for (int i = 0; i < CELLS; i++) {
        want[i] = image_at(i);
        for (int k = 0; k < 500; k++) want[i] = sin(want[i]);
    }
    check_image(y, want, 1e-5);
}

// So many that vectors go through each function together, with values in registers or not.
static void sines_of_steps(tc_ctx *tc) {
    enum { MANY = 4096 };
    float got[64];
    tc_tensor x = line(tc, MANY, 0.5, 0.001), y = x;
    BEGIN("steps");
    for (int i = 0; i < 500; i++) y = tc_sin(y);
    tc_keep(y);
    END();
    CHECK_EQ(tc_read(tc_contiguous(tc_narrow(y, 0, MANY - 64, 64)), got, sizeof got),
             TC_OK);
    for (int i = 0; i < 64; i++) {
        double want = 0.5 + (MANY - 64 + i) * 0.001;
        for (int k = 0; k < 500; k++) want = sin(want);
        CHECK(fabs((double)got[i] - want) < 1e-5);
    }
}

SMALL_STACK(math_of_steps, "cpu") { sines_of_steps(tc); }

// Views of views: permute, reshape there and back, a slice.
static tc_tensor deep_view(tc_tensor x, int steps) {
    for (int i = 0; i < steps; i++) x = tc_t(x);
    for (int i = 0; i < steps; i++)
        x = tc_reshape(tc_reshape(x, TC_DIMS(CELLS)), TC_DIMS(ROWS, COLUMNS));
    return x;
}

static void check_views(tc_ctx *tc, int steps) {
    double want[CELLS];
    tc_tensor x = image(tc), y;
    for (int i = 0; i < CELLS; i++) want[i] = 3 * image_at(i);
    BEGIN("views");
    y = tc_keep(tc_mul_s(deep_view(x, steps), 3));
    END();
    check_image(y, want, 1e-6);
}

SMALL_STACK(views, "aot_eager") { check_views(tc, 3000); }

// Written through the last view, read through the first.
SMALL_STACK(written_views, "aot_eager") {
    double want[CELLS];
    tc_tensor x = image(tc), y;
    for (int i = 0; i < CELLS; i++) want[i] = image_at(i) + 1;
    BEGIN("written");
    y = tc_mul_s(x, 1);
    tc_add_s_(deep_view(y, 2000), 1);
    y = tc_keep(tc_mul_s(y, 1));
    END();
    check_image(y, want, 1e-6);
}

// Movement that is no view: each puts a border around and takes it away.
SMALL_STACK(movement, "aot_eager") {
    double want[CELLS];
    tc_tensor x = image(tc), y = x;
    BEGIN("rolled");
    for (int i = 0; i < 1600; i++) y = tc_roll(y, 1, 1);
    y = tc_keep(tc_add_s(y, 1));
    END();
    for (int i = 0; i < CELLS; i++) want[i] = image_at(i) + 1; // 1600 is a multiple of 8
    check_image(y, want, 1e-6);
}

SMALL_STACK(reductions, "aot_eager") {
    tc_tensor x = image(tc), y = x;
    BEGIN("means");
    for (int i = 0; i < 600; i++)
        y = tc_sub(tc_add_s(y, 1), tc_mean_dims(y, TC_DIMS(1), TC_KEEPDIM));
    tc_keep(y);
    END();
    double want[CELLS];
    for (int r = 0; r < ROWS; r++) {
        double row[COLUMNS], mean;
        for (int c = 0; c < COLUMNS; c++) row[c] = image_at(r * COLUMNS + c);
        for (int i = 0; i < 600; i++) {
            mean = 0;
            for (int c = 0; c < COLUMNS; c++) mean += row[c] / COLUMNS;
            for (int c = 0; c < COLUMNS; c++) row[c] = row[c] + 1 - mean;
        }
        for (int c = 0; c < COLUMNS; c++) want[r * COLUMNS + c] = row[c];
    }
    check_image(y, want, 1e-5);
}

// Each product needs the one before.
SMALL_STACK(products, "aot_eager") {
    tc_tensor x = image(tc), y = x;
    tc_tensor w = tc_full(tc, TC_DIMS(COLUMNS, COLUMNS), 1.0 / COLUMNS, TC_F32);
    BEGIN("products");
    for (int i = 0; i < 400; i++) y = tc_add_s(tc_matmul(tc_mul_s(y, 0.5), w), 1);
    tc_keep(y);
    END();
    check_all(y, 2, 1e-5);
}

// An index for each step.
SMALL_STACK(gathers, "aot_eager") {
    double want[CELLS];
    int64_t back[ROWS] = {2, 1, 0};
    tc_tensor at = tc_from_data(tc, back, TC_DIMS(ROWS), TC_I64);
    tc_tensor x = image(tc), y = x;
    BEGIN("gathers");
    for (int i = 0; i < 300; i++) y = tc_index_select(y, 0, at);
    y = tc_keep(tc_mul_s(y, 2));
    END();
    for (int i = 0; i < CELLS; i++) want[i] = 2 * image_at(i);
    check_image(y, want, 1e-6);
}

// Two paths that part late: steps are compared with those of the other, and all are forgotten.
SMALL_STACK(paths, "aot_eager") {
    tc_tensor x = image(tc);
    for (int visit = 0; visit < 6; visit++) {
        BEGIN("paths");
        tc_tensor y = halved(x, 3000 + visit % 3);
        if (visit % 3 == 1) y = tc_add_s(y, 1);
        tc_keep(y);
        END();
        check_all(y, visit % 3 == 1 ? 3 : 2, 1e-6);
    }
    CHECK(tc_explain(tc) != NULL);
    tc_reset(tc);
}

// Sizes change, so the path is compared with the one before as a whole.
SMALL_STACK(sizes, "aot_eager") {
    for (int rows = 2; rows < 5; rows++) {
        float got[5 * COLUMNS];
        tc_tensor x = tc_full(tc, TC_DIMS(rows, COLUMNS), rows, TC_F32);
        BEGIN("sizes");
        tc_tensor y = tc_keep(halved(x, 3000));
        END();
        CHECK_EQ(tc_read(y, got, sizeof *got * (size_t)(rows * COLUMNS)), TC_OK);
        for (int i = 0; i < rows * COLUMNS; i++) CHECK(fabs((double)got[i] - 2) < 1e-5);
    }
}

// ---- kernels are bounded ----

enum { MANY = 4096 };

static tc_tensor many(tc_ctx *tc) { return tc_full(tc, TC_DIMS(MANY), 0.25, TC_F32); }

static uint64_t stored_between_kernels(tc_ctx *tc) {
    return tc_stats_get(tc).unplanned_bytes / (MANY * sizeof(float));
}

TEST(one_expression_is_several_kernels) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = many(tc);
    BEGIN("long");
    x = tc_keep(halved(x, 1500));
    END();
    int kernels = tc_explain_counts(tc, "long").kernels;
    CHECK(kernels > 5 && kernels < 20);
    CHECK_EQ(stored_between_kernels(tc), kernels - 1);
    CHECK(fabs(AT(x, MANY - 1) - 2) < 1e-6);
    tc_close(tc);
}

static tc_tensor six(tc_tensor x) {
    for (int k = 0; k < 6; k++) x = tc_add(tc_sin(x), tc_mul_s(x, 0.5));
    return x;
}

// Each step of the second needs one of the first, and all of the first was recorded before.
TEST(two_chains_are_cut_between_steps) {
    enum { STEPS = 40 };
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = many(tc), y = x, step[STEPS];
    double want_x = 0.25, want_y = 0.25, want_step[STEPS];
    BEGIN("two");
    for (int i = 0; i < STEPS; i++) step[i] = x, x = six(x);
    for (int i = 0; i < STEPS; i++) y = six(tc_add(y, step[i]));
    tc_keep(x), tc_keep(y);
    END();
    for (int i = 0; i < STEPS; i++) {
        want_step[i] = want_x;
        for (int k = 0; k < 6; k++) want_x = sin(want_x) + 0.5 * want_x;
    }
    for (int i = 0; i < STEPS; i++) {
        want_y += want_step[i];
        for (int k = 0; k < 6; k++) want_y = sin(want_y) + 0.5 * want_y;
    }
    CHECK(fabs(AT(x, 7) - want_x) < 1e-4 && fabs(AT(y, 7) - want_y) < 1e-4);
    // Two at each cut; in the order of recording it was every step, and more.
    uint64_t cuts = (uint64_t)tc_explain_counts(tc, "two").kernels - 1;
    CHECK(cuts && stored_between_kernels(tc) <= 2 * cuts);
    tc_close(tc);
}

// Mandelbrot's, from the count of the last visit on: what counts is one expression over all steps.
static void mandelbrot(tc_tensor cx, tc_tensor cy, int steps, int counts_last,
                       tc_tensor *count, tc_tensor *y_last) {
    tc_tensor x = cx, y = cy, in[80];
    for (int i = 0; i < steps; i++) {
        tc_tensor xx = tc_square(x), yy = tc_square(y);
        in[i] = tc_cast(tc_lt_s(tc_add(xx, yy), 4), TC_F32);
        if (!counts_last) *count = i ? tc_add(*count, in[i]) : in[i];
        tc_tensor xn = tc_add(tc_sub(xx, yy), cx);
        y = tc_clamp(tc_add(tc_mul_s(tc_mul(x, y), 2), cy), -4, 4), x = tc_clamp(xn, -4, 4);
    }
    for (int i = 0; i < steps && counts_last; i++)
        *count = i ? tc_add(*count, in[i]) : in[i];
    *y_last = y;
}

static void mandelbrot_by_hand(float cx, float cy, int steps, float *count, float *y_last) {
    float x = cx, y = cy;
    *count = 0;
    for (int i = 0; i < steps; i++) {
        float xx = x * x, yy = y * y, xn = xx - yy + cx, yn = x * y * 2 + cy;
        *count += xx + yy < 4 ? 1.0f : 0.0f;
        y = yn < -4 ? -4 : yn > 4 ? 4 : yn, x = xn < -4 ? -4 : xn > 4 ? 4 : xn;
    }
    *y_last = y;
}

// Wherever the counting was recorded, a cut stores x, y and the count so far.
static void check_mandelbrot(int steps, int counts_last, int kernels) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor count, y, cx = line(tc, MANY, -2, 2.5 / MANY);
    tc_tensor cy = tc_contiguous(tc_flip(tc_mul_s(cx, 0.5), TC_DIMS(0)));
    float want_count, want_y;
    BEGIN("mandelbrot");
    mandelbrot(cx, cy, steps, counts_last, &count, &y);
    tc_keep(count), tc_keep(y);
    END();
    for (int i = 0; i < MANY; i += 97) {
        mandelbrot_by_hand((float)AT(cx, i), (float)AT(cy, i), steps, &want_count, &want_y);
        if ((float)AT(count, i) != want_count) FAIL("point %d: %g", i, AT(count, i));
        if (want_count == (float)steps) CHECK(fabs(AT(y, i) - (double)want_y) < 1e-3);
    }
    CHECK_EQ(tc_explain_counts(tc, "mandelbrot").kernels, kernels);
    CHECK_EQ(stored_between_kernels(tc), 3 * (uint64_t)(kernels - 1));
    tc_close(tc);
}

TEST(iterations_are_one_kernel) { check_mandelbrot(30, 0, 1); }
TEST(iterations_are_cut_between_steps) { check_mandelbrot(60, 0, 2); }
TEST(iterations_counted_behind_are_cut_between_steps) { check_mandelbrot(60, 1, 2); }

// ---- costs that grow with the program ----
// What is quadratic in them takes minutes here, and the test is stopped.

TEST(deep_views_are_recorded_in_linear_time) {
    tc_ctx *tc = open_backend("aot_eager");
    check_views(tc, 30000);
    tc_close(tc);
}

// Each concatenation of neighbours is a stencil of the one before.
TEST(stencils_are_found_in_linear_time) {
    enum { STEPS = 24000 };
    tc_ctx *tc = open_backend("aot_eager");
    double want[CELLS];
    tc_tensor x = image(tc);
    BEGIN("turned");
    for (int i = 0; i < STEPS; i++)
        x = tc_cat((tc_tensor[]){tc_slice(x, 1, 1, COLUMNS, 1), tc_slice(x, 1, 0, 1, 1)}, 2,
                   1);
    x = tc_keep(tc_mul_s(x, 3));
    END();
    for (int i = 0; i < CELLS; i++) want[i] = 3 * image_at(i);
    check_image(x, want, 1e-6);
    tc_close(tc);
}

// ---- functions that are called ----

typedef tc_tensor (*unary)(tc_tensor x, const char *file, int line);

enum { CALLED = 77 }; // whole steps of the loop, and some elements behind them

// Every function more than once, of what keeps it in its domain; and two of two operands.
static void every_function(tc_ctx *tc, int dtype, void *bytes, size_t size) {
    static const unary f[] = {
        tc_exp_at,   tc_exp2_at,      tc_expm1_at, tc_log_at,     tc_log2_at, tc_log10_at,
        tc_log1p_at, tc_sin_at,       tc_cos_at,   tc_tan_at,     tc_asin_at, tc_acos_at,
        tc_atan_at,  tc_sinh_at,      tc_cosh_at,  tc_tanh_at,    tc_erf_at,  tc_sigmoid_at,
        tc_gelu_at,  tc_gelu_tanh_at, tc_silu_at,  tc_softplus_at};
    tc_tensor x =
        tc_cast(tc_add_s(tc_mul_s(tc_arange(tc, 0, CALLED, 1, TC_F32), 0.015), 0.01),
                (tc_dtype)dtype);
    BEGIN("every");
    tc_tensor y = x;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof f / sizeof *f; i++)
            y = tc_add(tc_mul_s(y, 0.5), f[i](tc_mul_s(x, 1 - round * 0.5), "f.c", 1));
        y = tc_add(tc_pow(tc_abs(y), x), tc_atan2(y, x));
        y = tc_add(y, tc_fmod(tc_abs(y), x));
    }
    tc_keep(y);
    END();
    CHECK_EQ(tc_read(y, bytes, size), TC_OK);
}

static void check_every_function(int dtype, size_t size) {
    char interpreted[CALLED * 8], compiled[CALLED * 8];
    const char *backend[] = {"aot_eager", "cpu"};
    const char *texts[] = {"tc_call_tanh_", "tc_calls_tanh_", "tc_call_atan2_",
                           "tc_calls_atan2_"};
    memset(interpreted, 0, sizeof interpreted), memset(compiled, 1, sizeof compiled);
    for (int i = 0; i < 2; i++) {
        tc_ctx *tc = open_backend(backend[i]);
        every_function(tc, dtype, i ? compiled : interpreted, CALLED * size);
        for (int k = 0; i && k < 4; k++)
            CHECK(strstr(tc_region_source(tc, "every"), texts[k]));
        CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
        tc_close(tc);
    }
    CHECK(!memcmp(interpreted, compiled, CALLED * size));
}

TEST(called_functions_f32) { check_every_function(TC_F32, 4); }
TEST(called_functions_f64) { check_every_function(TC_F64, 8); }

// ---- equal stretches at other offsets ----

enum { STEPS = 24, BATCH = 2, WIDE = 4, STATE = BATCH * WIDE };

static double weight_at(int i) { return ((i * 7) % 5 - 2) * 0.2; }
static double input_at(int i) { return ((i * 11) % 13 - 6) * 0.125; }

static tc_tensor weights(tc_ctx *tc) {
    float w[WIDE * WIDE];
    for (int i = 0; i < WIDE * WIDE; i++) w[i] = (float)weight_at(i);
    return tc_from_data(tc, w, TC_DIMS(WIDE, WIDE), TC_F32);
}

static tc_tensor inputs(tc_ctx *tc, double scale) {
    static float x[STEPS * STATE];
    for (int i = 0; i < STEPS * STATE; i++) x[i] = (float)(scale * input_at(i));
    return tc_from_data(tc, x, TC_DIMS(STEPS, BATCH, WIDE), TC_F32);
}

// h = tanh((2 x[t] + 1/4 h) w) for each step; the doubled inputs are a result, too.
static void recurrent(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_tensor x = tc_mul_s(in[0], 2), h = tc_zeros(tc, TC_DIMS(BATCH, WIDE), TC_F32);
    for (int t = 0; t < STEPS; t++) {
        tc_tensor both = tc_add(tc_select(x, 0, t), tc_mul_s(h, 0.25));
        h = tc_tanh(tc_matmul(both, in[1]));
    }
    out[0] = h, out[1] = x;
}

static void check_recurrent(tc_tensor h, double scale) {
    double want[STATE] = {0};
    for (int t = 0; t < STEPS; t++) {
        double both[STATE];
        for (int i = 0; i < STATE; i++)
            both[i] = 2 * scale * input_at(t * STATE + i) + 0.25 * want[i];
        for (int i = 0; i < STATE; i++) {
            double sum = 0;
            for (int k = 0; k < WIDE; k++)
                sum += both[i / WIDE * WIDE + k] * weight_at(k * WIDE + i % WIDE);
            want[i] = tanh(sum);
        }
    }
    for (int i = 0; i < STATE; i++)
        if (fabs(AT(h, i) - want[i]) > 1e-5) FAIL("%d: %g, not %g", i, AT(h, i), want[i]);
}

TEST(steps_share_their_text) {
    tc_ctx *tc = open_backend("cpu");
    tc_tensor in[2], out[2];
    in[1] = weights(tc);
    tc_fn *f = tc_compile(tc, recurrent, NULL, 0, NULL);
    for (int call = 0; call < 6; call++) { // the last ones by the short cut
        double scale = 0.5 + 0.25 * call;
        in[0] = inputs(tc, scale);
        CALL(f, in, 2, out, 2);
        check_recurrent(out[0], scale);
        CHECK(fabs(AT(out[1], STATE + 1) - 2 * scale * input_at(STATE + 1)) < 1e-6);
        for (int i = 0; i < 2; i++) tc_free(out[i]);
    }
    CHECK(tc_stats_get(tc).kernels_made <= 8);
    CHECK(tc_stats_get(tc).kernels_made > 0);
    tc_close(tc);
}

// ---- constants ----

enum { SCALES = 12 };

// What the step multiplies by, `same`: as does the one before it; and its bound.
static double scale_at(int i, int same) { return 0.5 + 0.03125 * (same ? i / 2 : i); }
static double shift_at(int i) { return i == 7 ? HUGE_VAL : 0.25 * i; }

// Sums along rows end kernels: each step is one, of the same ops and other constants. The last is f64.
static tc_tensor scaled_steps(tc_tensor x, int same) {
    for (int i = 0; i < SCALES; i++) {
        x = tc_mul_s(tc_cumsum(x, 1), scale_at(i, same));
        x = tc_div_s(tc_minimum_s(x, shift_at(i) + 100), 8);
    }
    return tc_mul_s(tc_cumsum(tc_cast(x, TC_F64), 1), 0.1);
}

static void scaled_step(double *row, int i, int same) {
    for (int k = 1; k < COLUMNS; k++) row[k] += row[k - 1];
    for (int k = 0; k < COLUMNS; k++)
        row[k] = fmin(row[k] * scale_at(i, same), shift_at(i) + 100) / 8;
}

static void check_scaled(tc_tensor y, int same) {
    double all[CELLS];
    CHECK_EQ(tc_read(y, all, sizeof all), TC_OK);
    for (int r = 0; r < ROWS; r++) {
        double row[COLUMNS], sum = 0;
        for (int k = 0; k < COLUMNS; k++) row[k] = image_at(r * COLUMNS + k);
        for (int i = 0; i < SCALES; i++) scaled_step(row, i, same);
        for (int k = 0; k < COLUMNS; k++) {
            double got = all[r * COLUMNS + k], want = (sum += row[k]) * 0.1;
            if (fabs(got - want) > 1e-5 * fabs(want))
                FAIL("(%d, %d): %.9g, not %.9g", r, k, got, want);
        }
    }
}

// Eleven steps have one text, the one without a bound its own, as has the last.
TEST(kernels_of_other_constants_share_a_text) {
    for (int same = 0; same < 2; same++) {
        tc_ctx *tc = open_backend("cpu");
        tc_tensor x = image(tc), y = tc_null();
        for (int visit = 0; visit < 3; visit++) {
            BEGIN("scaled");
            y = tc_keep(scaled_steps(x, same));
            END();
            check_scaled(y, same);
        }
        const char *source = tc_region_source(tc, "scaled");
        CHECK(strstr(source, "a->arg["));
        CHECK(strstr(source, "TC_K_f32(8.0f)") || strstr(source, "0x1p"));
        CHECK(tc_stats_get(tc).kernels_made > 0);
        CHECK(tc_stats_get(tc).kernels_made <= 4);
        tc_close(tc);
    }
}

// Scalars that change between visits are arguments of all kernels, which keep their constants then.
TEST(constants_and_scalars_that_change) {
    tc_ctx *tc = open_backend("cpu");
    tc_tensor x = image(tc);
    for (int visit = 0; visit < 5; visit++) {
        double want[CELLS], by = 1 + 0.5 * visit;
        BEGIN("changing");
        tc_tensor y = tc_mul_s(tc_flip(tc_cumsum(tc_mul_s(x, by), 1), TC_DIMS(1)), 3);
        y = tc_keep(tc_mul_s(tc_flip(tc_cumsum(tc_mul_s(y, 5), 1), TC_DIMS(1)), 7));
        END();
        for (int i = 0; i < CELLS; i++) {
            int r = i / COLUMNS * COLUMNS, c = i % COLUMNS;
            want[i] = 0;
            for (int k = 0; k < COLUMNS - c; k++)
                for (int j = 0; j < COLUMNS - k; j++) want[i] += 105 * by * image_at(r + j);
        }
        check_image(y, want, 1e-5);
    }
    tc_close(tc);
}

// ---- a loop that ends no region ----

static int told;

static void hear_long(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    told += level > 0 && strstr(text, "65536 ops") && strstr(text, "long.c");
}

static tc_ctx *open_hearing(void) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager", config.logger.log = hear_long;
    told = 0;
    return tc_open(&config);
}

// It takes memory in each round: that is told once, in time, with what to do; who does that is told nothing.
TEST(a_loop_without_an_end_is_told) {
    enum { ROUNDS = 70000 };
    for (int evals = 0; evals < 2; evals++) {
        tc_ctx *tc = open_hearing();
        tc_tensor x = line(tc, 4, 0, 1);
        CHECK_EQ(tc_lazy(tc, 1), TC_OK);
        for (int i = 0; i < ROUNDS; i++) {
            if (i == 65000) CHECK_EQ(told, 0);
            tc_tensor y = tc_mul_s(x, 2);
            if (evals) CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
            if (i + 1 == ROUNDS) CHECK_EQ(AT(y, 3), 6);
        }
        CHECK_EQ(told, !evals);
        CHECK_EQ(tc_lazy(tc, 0), TC_OK);
        tc_close(tc);
    }
}

// Read where it is not written: the kernel may not write the tensor itself.
TEST(written_and_read_elsewhere) {
    tc_ctx *tc = open_backend("cpu");
    double want[64];
    for (int visit = 0; visit < 2; visit++) {
        tc_tensor x = line(tc, 64, 1, 1);
        for (int i = 0; i < 64; i++) want[i] = i + 1;
        BEGIN("moved");
        for (int k = 0; k < 3; k++)
            tc_copy_(tc_narrow(x, 0, 0, 32), tc_mul_s(tc_narrow(x, 0, 32, 32), k + 2));
        tc_add_(x, tc_roll(x, 16, 0));
        END();
        for (int i = 0; i < 32; i++) want[i] = 4 * want[i + 32];
        double moved[64];
        for (int i = 0; i < 64; i++) moved[i] = want[i] + want[(i + 48) % 64];
        for (int i = 0; i < 64; i++) CHECK(fabs(AT(x, i) - moved[i]) < 1e-3);
    }
    tc_close(tc);
}
