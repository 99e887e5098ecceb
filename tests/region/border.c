// Borders in compiled kernels: the inside of a range is done without tests, the border with masks, and
// nobody can see where one ends. Widths around those of vectors (8, 16) and of steps (32, 64), insides
// that are empty, all dtypes, sizes known when it runs, one and two threads; and what the kernels'
// texts must have, so that none of it is tested in vain.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include "border.h"

static const char no_sanitizer[] = "kernels have no sanitizer in them; gcc ran";

static tc_ctx *open_with(const char *backend, const char *cc, int threads,
                         const char *isa) {
    tc_config config = tc_config_default();
    config.backend = backend, config.cc = cc, config.threads = threads;
    config.isa = isa, config.no_disk_cache = 1;
    return tc_open(&config);
}

// Nothing was refused, and nothing ran without a compiler that was to have one.
static void close_clean(tc_ctx *tc) {
    CHECK_STR(tc_error_text(tc), "");
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

// Borders of 0 to 3, and of one that is as wide as a vector.
static void check_widths(tc_ctx *tc, const int64_t *width, int count, int dtype) {
    REQUIRE(tc);
    for (int i = 0; i < count; i++) {
        char name[40];
        int64_t border = i % 5 == 4 ? 16 : i % 5;
        snprintf(name, sizeof name, "%d", i);
        if (2 * border < width[i])
            border_visit(tc, name, "cpu", 2 * border + 5, width[i], dtype, border);
    }
    close_clean(tc);
}

static const int64_t many[] = {3,  8,  15, 17,  32,  33,  47,  64,  65,  67,  79, 80,
                               81, 95, 97, 127, 128, 129, 130, 191, 193, 200, 260};
static const int64_t few[] = {200, 67, 130, 33, 97};

enum { MANY = sizeof many / sizeof *many, FEW = sizeof few / sizeof *few };

static const char for_all[] = "of ./build.sh test all";

TEST(widths) { check_widths(open_with("cpu", NULL, 2, NULL), many, MANY, TC_F32); }
TEST(widths_interpreted) {
    check_widths(open_with("aot_eager", NULL, 2, NULL), many, MANY, TC_F32);
}
TEST(oldest_cpu) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_widths(open_with("cpu", NULL, 1, "baseline"), few, FEW, TC_F32);
}
TEST(avx2) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_widths(open_with("cpu", NULL, 1, "avx2"), few, FEW, TC_F32);
}
TEST(clang) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    if (system("clang --version >/dev/null 2>&1")) SKIP("no clang");
    check_widths(open_with("cpu", "clang", 1, NULL), few, FEW, TC_F32);
}

static void check_dtype(int dtype) {
    check_widths(open_with("cpu", NULL, 1, NULL), few, FEW, dtype);
}

TEST(f64) { check_dtype(TC_F64); }
TEST(halves) { check_dtype(TC_F16), check_dtype(TC_BF16); }
TEST(integers) { check_dtype(TC_I32), check_dtype(TC_I64); }
TEST(narrow_integers) { check_dtype(TC_U8), check_dtype(TC_I8), check_dtype(TC_I16); }
TEST(bools) { check_dtype(TC_BOOL); }

// One program for all sizes; insides that are empty at some of them.
TEST(run_time_sizes) {
    static const int64_t w[] = {100, 70, 71, 5, 200, 33, 64, 6, 129};
    tc_ctx *tc = open_with("cpu", NULL, 2, NULL);
    REQUIRE(tc);
    for (int i = 0; i < (int)(sizeof w / sizeof *w); i++)
        border_visit(tc, "symbolic", "cpu", 5 + i, w[i], TC_F32, 2);
    CHECK(strstr(tc_region_source(tc, "symbolic"),
                 "inside [c - 2 < s1 - 4, r - 2 < s0 - 4]"));
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
}

// Few rows: threads share the columns, and begin in the middle of them.
TEST(threads_share_columns) {
    tc_ctx *tc = open_with("cpu", NULL, 2, NULL);
    REQUIRE(tc);
    border_visit(tc, "wide", "cpu", 3, 40001, TC_F32, 1);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
}

// Sine and cosine of one operand share their first steps, where both are computed.
TEST(halves_of_a_turn) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    tc_tensor x = line(tc, 200, -3, 0.03);
    BEGIN("turn");
    tc_tensor part[2] = {tc_narrow(tc_sin(x), 0, 0, 100), tc_narrow(tc_cos(x), 0, 0, 100)};
    tc_tensor y = tc_keep(tc_cat(part, 2, 0));
    END();
    for (int i = 0; i < 200; i++) {
        double at = (double)(float)(-3 + i % 100 * 0.03);
        CHECK_NEAR(AT(y, i), i < 100 ? sin(at) : cos(at), 1e-6);
    }
    tc_close(tc);
}

// An index is checked in a box that does not need it, as in the rest; none is out of range.
TEST(indices_in_a_part) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    int64_t at[100];
    REQUIRE(tc);
    for (int i = 0; i < 100; i++) at[i] = 99 - i;
    tc_tensor x = line(tc, 100, 0, 1), index = tc_from_data(tc, at, TC_DIMS(100), TC_I64);
    BEGIN("gather");
    tc_tensor part[2] = {tc_gather(x, 0, index), tc_mul_s(x, 2)};
    tc_tensor y = tc_keep(tc_pad(tc_cat(part, 2, 0), TC_DIMS(3), TC_DIMS(70), -1));
    END();
    for (int i = 0; i < 273; i++) {
        double want = i < 3 || i >= 203 ? -1 : i < 103 ? 102 - i : 2 * (i - 103);
        CHECK_EQ(AT(y, i), want);
    }
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
}

static const char *text_of(tc_ctx *tc, const char *name, both (*run)(both, int64_t),
                           int64_t h, int64_t w) {
    both x = border_image(tc, "cpu", h, w, TC_F32, 1);
    BEGIN(name);
    tc_keep(run(x, 1).t);
    END();
    border_free();
    return tc_region_source(tc, name);
}

static int count(const char *text, const char *word) {
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; text++) n++;
    return n;
}

static const char column_loop[] = "for (tc_i64 c = ";

// Whether loop i over columns of a text, which others follow, asks where its columns are.
static int asks(const char *text, int i) {
    const char *begin = text, *end;
    for (begin = strstr(text, column_loop); begin && i--;)
        begin = strstr(begin + 1, column_loop);
    if (!begin || !(end = strstr(begin + 1, column_loop)))
        return FAIL("there are fewer loops: %d", i);
    for (; begin < end; begin++)
        if (!strncmp(begin, "tc_inside", 9) || !strncmp(begin, "if (", 4)) return 1;
    return 0;
}

// The inside of each kernel has no test left, and no kernel has more bodies than parts.
TEST(texts) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    const char *s = text_of(tc, "pad", pad_of_inside, 100, 200);
    CHECK_EQ(count(s, "inside [c - 1 < 198, r - 1 < 98]"), 1);
    CHECK_EQ(count(s, column_loop),
             6); // a row's first vector, those inside, the last one; twice
    CHECK(asks(s, 0) && !asks(s, 1) && asks(s, 2));
    (void)text_of(tc, "any width", pad_of_inside, 100, 200);
    s = text_of(tc, "any width", pad_of_inside, 100, 300);
    CHECK_EQ(count(s, "c <= last"), 1);
    const char *inside = strstr(s, "c <= last"),
               *end = inside ? strstr(inside, "if (c >= ") : NULL;
    REQUIRE(end);
    for (; inside < end; inside++)
        CHECK(strncmp(inside, "tc_inside", 9) && strncmp(inside, "if (", 4));
    s = text_of(tc, "cat", columns_side_by_side, 100, 200);
    CHECK_EQ(count(s, "c <= last"), 3);
    // A far edge is not asked for, nor any lane alone.
    s = text_of(tc, "reflected", inside_of_reflected, 100, 200);
    CHECK(count(s, " = load in0") == 8 && count(s, "[l]") == 0);
    CHECK(count(s, "c <= last") == 0 && count(s, column_loop) == 6);
    CHECK(asks(s, 0) && !asks(s, 1) && asks(s, 2));
    s = text_of(tc, "repeated", inside_of_replicated, 100, 200);
    CHECK(count(s, " = load in0") == 8 && count(s, "[l]") == 0);
    s = text_of(tc, "circle", inside_of_circle, 100, 200);
    CHECK(count(s, " = load in0") == 8 && count(s, "[l]") == 0);
    // A row that is not meant is no load of an empty mask, which may be far from any memory.
    s = text_of(tc, "corners", reflected_on_two_sides, 100, 200);
    int masks = 0, of_rows = 0;
    for (const char *m = s; (m = strstr(m, "const tc_vi m")) != NULL; m++) {
        const char *row = strstr(m, "tc_splat"), *line_end = strchr(m, '\n');
        masks++, of_rows += row && row < line_end;
    }
    CHECK(masks > 0 && of_rows == 0);
    s = text_of(tc, "small", pad_of_inside, 5, 20);
    CHECK_EQ(count(s, "c <= last"), 0);
    tc_close(tc);
}

// ---- maps ----

// 3x3 windows over maps, whose rows are shorter than a few vectors: `low` elements of `fill` before each
// row and column, 2 - low behind, and the elements around, added in order.
static tc_tensor sum_of_windows(tc_tensor x, int low, double fill) {
    tc_tensor sum = tc_null();
    int64_t h = tc_dim(x, 1), w = tc_dim(x, 2);
    tc_tensor p = tc_pad(x, TC_DIMS(0, low, low), TC_DIMS(0, 2 - low, 2 - low), fill);
    for (int at = 0; at < 9; at++) {
        tc_tensor tap = tc_narrow(tc_narrow(p, 1, at / 3, h), 2, at % 3, w);
        sum = at ? tc_add(sum, tc_mul_s(tap, at + 1)) : tap;
    }
    return sum;
}

enum { MAPS = 3, MAP_MOST = 129 };

// Small whole numbers: exact in every dtype.
static double map_at(int64_t side, int64_t m, int64_t r, int64_t c, double fill) {
    if (r < 0 || r >= side || c < 0 || c >= side) return fill;
    return (double)((m * 31 + r * 7 + c * 3) % 5);
}

static double window_at(int64_t side, int64_t i, int low, double fill) {
    double sum = 0;
    for (int at = 0; at < 9; at++)
        sum += (at ? at + 1 : 1) * map_at(side, i / (side * side),
                                          i / side % side + at / 3 - low,
                                          i % side + at % 3 - low, fill);
    return sum;
}

static void check_maps(tc_ctx *tc, int64_t side, int dtype, int low, double fill) {
    static double x[MAPS * MAP_MOST * MAP_MOST], y[MAPS * MAP_MOST * MAP_MOST];
    char name[40];
    int64_t n = MAPS * side * side;
    for (int64_t i = 0; i < n; i++)
        x[i] = map_at(side, i / (side * side), i / side % side, i % side, 0);
    snprintf(name, sizeof name, "maps %d %d %d", (int)side, dtype, low);
    tc_scope_begin(tc);
    tc_tensor from = tc_from_data(tc, x, TC_DIMS(MAPS, side, side), TC_F64);
    from = tc_cast(from, (tc_dtype)dtype), tc_data(from);
    BEGIN(name);
    tc_tensor sum = tc_keep(sum_of_windows(from, low, fill));
    END();
    CHECK_EQ(tc_read(tc_cast(sum, TC_F64), y, (size_t)n * sizeof *y), TC_OK);
    int64_t bad = 0;
    while (bad < n && y[bad] == window_at(side, bad, low, fill)) bad++;
    CHECK(bad == n || FAIL("%s: %d is %g, not %g", name, (int)bad, y[bad],
                           window_at(side, bad, low, fill)));
    tc_scope_end(tc);
}

static void check_all_maps(tc_ctx *tc) {
    static const int side[] = {3,  4,  7,  8,  9,  10, 14, 15, 16,  17,
                               28, 31, 33, 56, 64, 67, 80, 96, 111, 129};
    REQUIRE(tc);
    for (size_t i = 0; i < sizeof side / sizeof *side; i++) {
        int dtype = i % 4 == 3 ? TC_I32 : TC_F32;
        check_maps(tc, side[i], dtype, (int)(i + 1) % 3, i % 2 ? 0 : 2);
        check_maps(tc, side[i], dtype, 1, -0.0);
    }
    check_maps(tc, 14, TC_F64, 1, 1), check_maps(tc, 14, TC_U8, 1, 1);
    close_clean(tc);
}

TEST(maps) { check_all_maps(open_with("cpu", NULL, 2, NULL)); }
TEST(maps_interpreted) { check_all_maps(open_with("aot_eager", NULL, 2, NULL)); }
TEST(maps_avx2) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_maps(open_with("cpu", NULL, 1, "avx2"));
}
TEST(maps_oldest_cpu) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_maps(open_with("cpu", NULL, 1, "baseline"));
}

// The same with `low` elements of each map around it, of which 3 x 3 sums of distance `low` are taken.
static tc_tensor sum_with_edges(tc_tensor x, int low, tc_pad_mode mode) {
    tc_tensor sum = tc_null();
    int64_t h = tc_dim(x, 1), w = tc_dim(x, 2);
    tc_tensor p = tc_pad_with(x, TC_DIMS(0, low, low), TC_DIMS(0, low, low), mode);
    for (int at = 0; at < 9; at++) {
        tc_tensor tap = tc_narrow(tc_narrow(p, 1, at / 3 * low, h), 2, at % 3 * low, w);
        sum = at ? tc_add(sum, tc_mul_s(tap, at + 1)) : tap;
    }
    return sum;
}

static double edges_at(int64_t h, int64_t w, int64_t i, int low, int mode) {
    double sum = 0;
    for (int at = 0; at < 9; at++) {
        int64_t r = i / w % h + (at / 3 - 1) * low, c = i % w + (at % 3 - 1) * low;
        sum += (at ? at + 1 : 1) * map_at(INT64_MAX, i / (h * w), border_place(r, h, mode),
                                          border_place(c, w, mode), 0);
    }
    return sum;
}

// Maps of h x w; of one name, and so of sizes known at run time, in region `name`.
static void check_edges(tc_ctx *tc, const char *name, int64_t h, int64_t w, int dtype,
                        int low, tc_pad_mode mode) {
    enum { MOST = MAPS * 40 * 140 };
    static double x[MOST], y[MOST];
    int64_t n = MAPS * h * w, bad = 0;
    for (int64_t i = 0; i < n; i++)
        x[i] = map_at(INT64_MAX, i / (h * w), i / w % h, i % w, 0);
    tc_scope_begin(tc);
    tc_tensor from = tc_from_data(tc, x, TC_DIMS(MAPS, h, w), TC_F64);
    from = tc_cast(from, (tc_dtype)dtype), tc_data(from);
    tc_trace_begin_at(tc, name, NULL, "border.c", 1);
    tc_tensor sum = tc_keep(sum_with_edges(from, low, mode));
    END();
    CHECK_EQ(tc_read(tc_cast(sum, TC_F64), y, (size_t)n * sizeof *y), TC_OK);
    while (bad < n && y[bad] == edges_at(h, w, bad, low, mode)) bad++;
    CHECK(bad == n || FAIL("%s, %d x %d: %d is %g, not %g", name, (int)h, (int)w, (int)bad,
                           y[bad], edges_at(h, w, bad, low, mode)));
    tc_free(sum);
    tc_scope_end(tc);
}

static void check_all_edges(tc_ctx *tc) {
    static const int width[] = {4, 7, 15, 16, 17, 31, 33, 63, 64, 65, 67, 128, 131};
    static const int dtypes[] = {TC_F32, TC_F32, TC_F64, TC_I32, TC_BF16, TC_I64};
    char name[40];
    REQUIRE(tc);
    for (int i = 0; i < (int)(sizeof width / sizeof *width); i++)
        for (int mode = TC_PAD_REFLECT; mode <= (int)TC_PAD_CIRCULAR; mode++) {
            int low = 1 + (i + mode) % 3, at = 3 * i + mode;
            snprintf(name, sizeof name, "edges %d", at);
            check_edges(tc, name, low + 1 + at % 30, width[i], dtypes[at % 6], low,
                        (tc_pad_mode)mode);
        }
    for (int mode = TC_PAD_REFLECT; mode <= (int)TC_PAD_CIRCULAR; mode++)
        for (int i = 0; i < 8; i++) { // from the second on, of any size
            snprintf(name, sizeof name, "edges of any size %d", mode);
            check_edges(tc, name, 5 + (i * 7) % 20, 140 - 19 * i, TC_F32, 2,
                        (tc_pad_mode)mode);
        }
    close_clean(tc);
}

// Rows of whole steps, of vectors behind them, and of what is left; borders of one vector and of two.
static void check_wide_edges(tc_ctx *tc) {
    static const int width[] = {80, 96, 111, 160, 172};
    static const int far[] = {1, 2, 17, 16};
    char name[40];
    REQUIRE(tc);
    for (int i = 0; i < 5 * 4; i++) {
        int low = far[i % 4], mode = i % 3;
        snprintf(name, sizeof name, "wide %d", i);
        check_edges(tc, name, low + 5, width[i / 4], i % 5 ? TC_F32 : TC_I32, low,
                    (tc_pad_mode)(TC_PAD_REFLECT + mode));
    }
    close_clean(tc);
}

TEST(wide_edges) { check_wide_edges(open_with("cpu", NULL, 2, NULL)); }
TEST(wide_edges_avx2) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_wide_edges(open_with("cpu", NULL, 1, "avx2"));
}

static const char *text_of_edges(tc_ctx *tc, const char *name, int64_t w, int low,
                                 tc_pad_mode mode) {
    tc_tensor x = tc_ones(tc, TC_DIMS(2, 40, w), TC_F32);
    tc_trace_begin_at(tc, name, NULL, "border.c", 2);
    tc_keep(sum_with_edges(x, low, mode));
    END();
    return tc_region_source(tc, name);
}

// Whether loads of a mask are instructions.
static int has_masks(void) {
    const char *isa = getenv("TC_ISA");
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           !(isa && !strcmp(isa, "baseline"));
#else
    (void)isa;
    return 0;
#endif
}

// Windows of `high` x `wide` taps over maps with a border of `mode`, ZEROS or one of tc_pad_mode, added in order.
enum { ZEROS = -1 };

static tc_tensor sum_of_taps(tc_tensor x, int high, int wide, int mode) {
    int64_t h = tc_dim(x, 1), w = tc_dim(x, 2);
    tc_dims low = TC_DIMS(0, high / 2, wide / 2);
    tc_tensor p = mode == ZEROS ? tc_pad(x, low, low, 0)
                                : tc_pad_with(x, low, low, (tc_pad_mode)mode);
    tc_tensor sum = tc_null();
    for (int at = 0; at < high * wide; at++) {
        tc_tensor tap = tc_narrow(tc_narrow(p, 1, at / wide, h), 2, at % wide, w);
        sum = at ? tc_add(sum, tc_mul_s(tap, 1 + at % 3)) : tap;
    }
    return sum;
}

static double taps_at(int64_t h, int64_t w, int64_t i, int high, int wide, int mode) {
    double sum = 0;
    for (int at = 0; at < high * wide; at++) {
        int64_t r = i / w % h + at / wide - high / 2, c = i % w + at % wide - wide / 2;
        if (mode == ZEROS && (r < 0 || r >= h || c < 0 || c >= w)) continue;
        if (mode != ZEROS) r = border_place(r, h, mode), c = border_place(c, w, mode);
        sum += (1 + at % 3) * map_at(INT64_MAX, i / (h * w), r, c, 0);
    }
    return sum;
}

// Returns how many kernels it took.
static int check_taps(tc_ctx *tc, int64_t h, int64_t w, int high, int wide, int mode,
                      int dtype) {
    enum { MOST = MAPS * 20 * 200 };
    static double x[MOST], y[MOST];
    int64_t n = MAPS * h * w, bad = 0;
    char name[60];
    for (int64_t i = 0; i < n; i++)
        x[i] = map_at(INT64_MAX, i / (h * w), i / w % h, i % w, 0);
    snprintf(name, sizeof name, "taps %d %d %d %d %d", (int)w, high, wide, mode, dtype);
    tc_scope_begin(tc);
    tc_tensor from = tc_from_data(tc, x, TC_DIMS(MAPS, h, w), TC_F64);
    from = tc_cast(from, (tc_dtype)dtype), tc_data(from);
    BEGIN(name);
    tc_tensor sum = tc_keep(sum_of_taps(from, high, wide, mode));
    END();
    CHECK_EQ(tc_read(tc_cast(sum, TC_F64), y, (size_t)n * sizeof *y), TC_OK);
    while (bad < n && y[bad] == taps_at(h, w, bad, high, wide, mode)) bad++;
    CHECK(bad == n || FAIL("%s: %d is %g, not %g", name, (int)bad, y[bad],
                           taps_at(h, w, bad, high, wide, mode)));
    tc_free(sum);
    tc_scope_end(tc);
    return tc_region_kernels(tc, name);
}

static void check_all_taps(tc_ctx *tc) {
    static const int width[] = {7, 28, 57, 131, 200};
    REQUIRE(tc);
    for (int i = 0; i < (int)(sizeof width / sizeof *width); i++)
        for (int mode = ZEROS; mode <= (int)TC_PAD_CIRCULAR; mode++) {
            int dtype = (i + mode) % 3 ? TC_F32 : TC_I32, h = 8 + (i + mode) % 12;
            (void)check_taps(tc, h, width[i], 5, 5, mode, dtype);
            (void)check_taps(tc, h, width[i], i % 2 ? 3 : 1, 5, mode, TC_F32);
            (void)check_taps(tc, h, width[i], i % 2 ? 5 : 7, i % 2 ? 1 : 7, mode, TC_F32);
        }
    close_clean(tc);
}

TEST(taps) { check_all_taps(open_with("cpu", NULL, 2, NULL)); }
TEST(taps_avx2) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_taps(open_with("cpu", NULL, 1, "avx2"));
}
TEST(taps_oldest_cpu) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_taps(open_with("cpu", NULL, 1, "baseline"));
}

// Which ask for their border, and for which it is made before.
TEST(kernels_of_taps) {
    static const struct {
        int w, high, wide, mode, kernels;
    } row[] = {
        {200, 3, 3, TC_PAD_REFLECT, 1},
        {28, 3, 3, TC_PAD_CIRCULAR, 1},
        {200, 5, 5, TC_PAD_REFLECT, 1},
        {48, 5, 5, TC_PAD_REPLICATE, 1},
        {200, 5, 5, TC_PAD_CIRCULAR, 1},
        {28, 5, 5, TC_PAD_REFLECT, 2},
        {200, 7, 7, TC_PAD_REPLICATE, 2},
        {200, 7, 7, ZEROS, 1},
        {200, 9, 9, ZEROS, 2},
    };
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    if (!has_masks()) SKIP("a CPU without loads of a mask");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int k = check_taps(tc, 9, row[i].w, row[i].high, row[i].wide, row[i].mode, TC_F32);
        CHECK(k == row[i].kernels || FAIL("row %d: %d", (int)i, k));
    }
    tc_close(tc);
}

// Repeated elements are no loads of lanes.
TEST(texts_of_edges) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    CHECK_EQ(count(text_of_edges(tc, "long", 200, 1, TC_PAD_REFLECT), "TC_KERNEL void"), 1);
    const char *s = text_of_edges(tc, "repeated twice", 60, 2, TC_PAD_REPLICATE);
    CHECK(count(s, "tc_between(low") > 0 && count(s, "[l]") == 0);
    if (has_masks()) { // of maps whose rows follow each other: their index is asked, not its row
        (void)check_taps(tc, 9, 28, 5, 1, TC_PAD_CIRCULAR, TC_F32);
        char name[60];
        snprintf(name, sizeof name, "taps 28 5 1 %d %d", TC_PAD_CIRCULAR, TC_F32);
        s = tc_region_source(tc, name);
        CHECK(count(s, "valid 0 <= c - ") > 0 && count(s, "[l]") == 0);
        CHECK_EQ(count(s, "/ 28"), 0);
    }
    tc_close(tc);
}

// Of rows too short for a box of columns the first and the last step go apart, and what is between asks nothing.
TEST(short_rows_have_ends) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    for (int mode = TC_PAD_REFLECT; mode <= (int)TC_PAD_CIRCULAR; mode++) {
        char name[24];
        snprintf(name, sizeof name, "rows %d", mode);
        tc_tensor x = tc_ones(tc, TC_DIMS(MAPS, 64, 64), TC_F32);
        tc_dims one = TC_DIMS(0, 1, 1);
        BEGIN(name);
        tc_tensor p = tc_pad_with(x, one, one, (tc_pad_mode)mode);
        tc_tensor rows = tc_narrow(p, 2, 1, 64), columns = tc_narrow(p, 1, 1, 64);
        rows = tc_add(tc_narrow(rows, 1, 0, 64), tc_narrow(rows, 1, 2, 64));
        columns = tc_add(tc_narrow(columns, 2, 0, 64), tc_narrow(columns, 2, 2, 64));
        (void)tc_keep(tc_add(rows, columns));
        END();
        const char *s = tc_region_source(tc, name);
        CHECK_EQ(count(s, column_loop), 6); // three of a row inside, three of others
        CHECK(asks(s, 0) && !asks(s, 1) && asks(s, 2));
    }
    tc_close(tc);
}

TEST(edges) { check_all_edges(open_with("cpu", NULL, 2, NULL)); }
TEST(edges_interpreted) { check_all_edges(open_with("aot_eager", NULL, 2, NULL)); }
TEST(edges_avx2) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_edges(open_with("cpu", NULL, 1, "avx2"));
}
TEST(edges_oldest_cpu) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_edges(open_with("cpu", NULL, 1, "baseline"));
}

// What is computed of numbers inside of a border has no dimension that a vector moves along.
BOTH(numbers_in_a_border) {
    tc_tensor x = line(tc, 40, 0, 1), a = tc_full(tc, TC_SCALAR, 3, TC_F32);
    for (int low = 1; low <= 8; low++) {
        char name[24];
        snprintf(name, sizeof name, "numbers %d", low);
        BEGIN(name);
        tc_tensor sum = tc_add(x, tc_mul(a, a));
        tc_tensor y = tc_keep(tc_pad(sum, TC_DIMS(low), TC_DIMS(2), 5));
        END();
        for (int i = 0; i < 42 + low; i++)
            CHECK_EQ(AT(y, i), i < low || i >= 40 + low ? 5 : i - low + 9);
    }
}

// Where loads of a mask are instructions, no padded image is stored, and rows inside of a map ask nothing.
TEST(maps_are_read_in_place) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    if (!has_masks()) SKIP("a CPU without loads of a mask");
    check_maps(tc, 14, TC_F32, 1, 0);
    char name[40];
    snprintf(name, sizeof name, "maps 14 %d 1", TC_F32);
    CHECK_EQ(tc_region_kernels(tc, name), 1);
    const char *s = tc_region_source(tc, name);
    CHECK_EQ(count(s, "if ((r % 14) - 1 >= 0 && (r % 14) - 1 < 12)"), 1);
    tc_close(tc);
}

// ---- pools ----

typedef struct pool_case {
    int side, kernel, stride, padding;
} pool_case;

static const pool_case pools[] = {
    {14, 3, 2, 1}, {15, 3, 2, 1}, {13, 3, 2, 0}, {28, 3, 2, 1},
    {55, 3, 2, 0}, {67, 3, 2, 1}, {7, 3, 2, 1},  {33, 2, 2, 1},
    {27, 3, 3, 1}, {20, 4, 4, 0}, {18, 5, 2, 2}, {16, 3, 1, 1},
};

static double pool_at(const pool_case *p, int64_t m, int64_t r, int64_t c) {
    double most = -INFINITY;
    for (int64_t y = r * p->stride - p->padding, i = 0; i < p->kernel; i++)
        for (int64_t x = c * p->stride - p->padding, k = 0; k < p->kernel; k++) {
            double at = map_at(p->side, m, y + i, x + k, -INFINITY);
            if (at > most) most = at;
        }
    return most;
}

static void check_pool(tc_ctx *tc, const pool_case *p, const char *name) {
    static double x[MAPS * MAP_MOST * MAP_MOST], y[MAPS * MAP_MOST * MAP_MOST];
    int64_t side = p->side, out = (side + 2 * p->padding - p->kernel) / p->stride + 1;
    for (int64_t i = 0; i < MAPS * side * side; i++)
        x[i] = map_at(side, i / (side * side), i / side % side, i % side, 0);
    tc_scope_begin(tc);
    tc_tensor from = tc_from_data(tc, x, TC_DIMS(1, MAPS, side, side), TC_F64);
    from = tc_cast(from, TC_F32), tc_data(from);
    BEGIN(name);
    tc_tensor most = tc_keep(tc_max_pool2d(from, p->kernel, p->stride, p->padding));
    END();
    int64_t n = MAPS * out * out, bad = 0;
    CHECK_EQ(tc_read(tc_cast(most, TC_F64), y, (size_t)n * sizeof *y), TC_OK);
    while (bad < n && y[bad] == pool_at(p, bad / (out * out), bad / out % out, bad % out))
        bad++;
    CHECK(bad == n || FAIL("pool of %d, %d, %d: %d is %g", p->side, p->kernel, p->stride,
                           (int)bad, y[bad]));
    tc_scope_end(tc);
}

static void check_pools(tc_ctx *tc) {
    REQUIRE(tc);
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        char name[24];
        snprintf(name, sizeof name, "pool %d", (int)i);
        check_pool(tc, &pools[i], name);
    }
    close_clean(tc);
}

TEST(pools) { check_pools(open_with("cpu", NULL, 2, NULL)); }
TEST(pools_interpreted) { check_pools(open_with("aot_eager", NULL, 1, NULL)); }
TEST(pools_avx2) {
    if (!test_all()) SKIP(for_all);
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_pools(open_with("cpu", NULL, 1, "avx2"));
}

// Columns are those of the result, though 27 are no whole vectors: nothing is divided for single lanes.
TEST(steps_stay_in_rows) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    check_pool(tc, &pools[4], "steps");
    const char *s = tc_region_source(tc, "steps");
    CHECK_EQ(count(s, "columns 27;"), 1);
    CHECK_EQ(count(s, "((c + l) / "), 0);
    tc_close(tc);
}

// A pool of every second element reads its border in place.
TEST(pools_are_one_kernel) {
    tc_ctx *tc = open_with("cpu", NULL, 1, NULL);
    REQUIRE(tc);
    if (!has_masks()) SKIP("a CPU without loads of a mask");
    check_pool(tc, &pools[0], "one");
    CHECK_EQ(tc_region_kernels(tc, "one"), 1);
    CHECK(count(tc_region_source(tc, "one"), "tc_ld2m_f32(") > 0);
    tc_close(tc);
}

// ---- copies into views ----

// Every `step`th element of each dimension from `start` on, dimensions turned: what a copy and a call
// write, and nothing beside it.
typedef struct window_case {
    int64_t start[3], step[3], count[3];
    int order[3];
} window_case;

enum { D0 = 6, D1 = 7, D2 = 9 };

static tc_tensor window_of(tc_tensor base, const window_case *v) {
    for (int d = 0; d < 3; d++) {
        int64_t end = v->start[d] + v->step[d] * v->count[d];
        base = tc_slice(base, d, v->start[d], end < 0 ? TC_END : end, v->step[d]);
    }
    return tc_permute(base, TC_DIMS(v->order[0], v->order[1], v->order[2]));
}

// Where element `i` of the view, row-major, is in the base.
static int64_t place_of(const window_case *v, int64_t i) {
    static const int64_t pitch[3] = {D1 * D2, D2, 1};
    int64_t at = 0;
    for (int k = 2; k >= 0; k--) {
        int d = v->order[k];
        at += pitch[d] * (v->start[d] + v->step[d] * (i % v->count[d]));
        i /= v->count[d];
    }
    return at;
}

static void negate(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_neg(in[0]);
}

static void check_window(tc_ctx *tc, const window_case *v, int dtype, tc_fn *f) {
    double want[D0 * D1 * D2], got[D0 * D1 * D2], source[D0 * D1 * D2];
    int64_t n = v->count[0] * v->count[1] * v->count[2];
    tc_dims d =
        TC_DIMS(v->count[v->order[0]], v->count[v->order[1]], v->count[v->order[2]]);
    for (int i = 0; i < D0 * D1 * D2; i++) want[i] = i % 50;
    for (int64_t i = 0; i < n; i++) source[i] = -(double)(i % 41) - 1;
    tc_scope_begin(tc);
    tc_tensor all = tc_from_data(tc, want, TC_DIMS(D0, D1, D2), TC_F64);
    tc_tensor base = tc_cast(all, (tc_dtype)dtype), view = window_of(base, v);
    tc_tensor from = tc_cast(tc_from_data(tc, source, d, TC_F64), (tc_dtype)dtype);
    for (int call = 0; call < 2; call++) {
        if (call)
            CHECK_EQ(tc_call_into(f, &from, 1, &view, 1), TC_OK);
        else
            tc_copy_(view, from);
        for (int64_t i = 0; i < n; i++)
            want[place_of(v, i)] = call ? -source[i] : source[i];
        CHECK_EQ(tc_read(tc_cast(base, TC_F64), got, sizeof got), TC_OK);
        for (int i = 0; i < D0 * D1 * D2; i++)
            if (got[i] != want[i] && FAIL("%d: %g, not %g", i, got[i], want[i])) break;
        tc_tensor back = tc_cast(tc_contiguous(view), TC_F64);
        CHECK_EQ(tc_read(back, got, (size_t)n * sizeof *got), TC_OK);
        for (int64_t i = 0; i < n; i++) CHECK_EQ(got[i], want[place_of(v, i)]);
    }
    tc_scope_end(tc);
}

BOTH(copies_into_views) {
    static const window_case cases[] = {
        {{0, 0, 0}, {1, 1, 1}, {6, 7, 9}, {0, 1, 2}},   // all of it
        {{1, 2, 3}, {1, 1, 1}, {4, 4, 5}, {0, 1, 2}},   // the inside
        {{1, 0, 0}, {2, 1, 1}, {2, 7, 9}, {0, 1, 2}},   // rows
        {{0, 0, 0}, {1, 1, 1}, {6, 7, 9}, {2, 1, 0}},   // turned
        {{0, 1, 8}, {1, 2, -2}, {6, 3, 4}, {1, 0, 2}},  // backwards
        {{5, 6, 0}, {-1, -3, 4}, {5, 2, 3}, {2, 0, 1}}, //
        {{3, 4, 0}, {1, 1, 1}, {1, 1, 9}, {0, 1, 2}},   // one row
        {{0, 4, 2}, {1, 1, 1}, {6, 1, 1}, {0, 1, 2}},   // one column
        {{2, 3, 4}, {1, 1, 1}, {1, 1, 1}, {0, 1, 2}},   // one element
    };
    static const int dtypes[] = {TC_F32, TC_F64, TC_BF16, TC_I8, TC_I16};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tc_fn *f = tc_compile(tc, negate, NULL, 0, NULL);
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
            check_window(tc, &cases[i], dtypes[k], f);
        tc_fn_free(f);
    }
}

// ---- positions that are compared ----

enum { ORDERS = 5, PLACES_H = 37, PLACES_W = 203 };

// The mask of order o.
static tc_tensor places(int o, tc_tensor column, tc_tensor row) {
    if (o == 0) return tc_le(column, row);
    if (o == 1) return tc_lt(column, row);
    if (o == 2) return tc_ge(column, row);
    return o == 3 ? tc_gt(column, row) : tc_eq(column, row);
}

static int is_placed(int o, int64_t column, int64_t row) {
    if (o == 0) return column <= row;
    if (o == 1) return column < row;
    if (o == 2) return column >= row;
    return o == 3 ? column > row : column == row;
}

// x where column and 3 * row + off, or only off, are in order o, else -1; its sums along rows by columns.
static void check_places(tc_ctx *tc, int o, int64_t off, int by_row) {
    static float x[PLACES_H * PLACES_W], y[PLACES_H * PLACES_W], sum[PLACES_W];
    for (int i = 0; i < PLACES_H * PLACES_W; i++) x[i] = (float)(i % 101);
    char name[40];
    snprintf(name, sizeof name, "places %d %d %d", o, (int)off, by_row);
    tc_tensor t = tc_from_data(tc, x, TC_DIMS(PLACES_H, PLACES_W), TC_F32);
    tc_trace_begin(tc, name);
    tc_tensor column = tc_arange(tc, 0, PLACES_W, 1, TC_I64), edge = tc_null();
    if (by_row)
        edge = tc_unsqueeze(tc_arange(tc, 0, PLACES_H, 1, TC_I64), 1);
    else
        edge = tc_zeros(tc, TC_DIMS(1), TC_I64);
    edge = by_row ? tc_add(tc_add(edge, edge), edge) : edge;
    tc_tensor mask = places(o, column, tc_add_s(edge, (double)off));
    tc_tensor z = tc_keep(tc_where(mask, t, tc_full(tc, TC_SCALAR, -1, TC_F32)));
    tc_tensor down = tc_sum(z, 0);
    tc_trace_end(tc);
    CHECK_EQ(tc_read(z, y, sizeof y), TC_OK);
    CHECK_EQ(tc_read(down, sum, sizeof sum), TC_OK);
    for (int64_t c = 0; c < PLACES_W; c++) {
        double want = 0;
        for (int64_t r = 0; r < PLACES_H; r++) {
            int in = is_placed(o, c, (by_row ? 3 * r : 0) + off);
            double v = in ? (double)x[r * PLACES_W + c] : -1.0;
            want += v;
            if ((double)y[r * PLACES_W + c] != v)
                FAIL("%s at %d, %d: %g", name, (int)r, (int)c, (double)y[r * PLACES_W + c]);
        }
        CHECK((double)sum[c] == want);
    }
    tc_free(t), tc_free(z);
}

static void check_all_places(tc_ctx *tc) {
    static const int64_t off[] = {0, 7, -40, 150, -500, 1000};
    REQUIRE(tc);
    for (int o = 0; o < ORDERS; o++)
        for (int i = 0; i < 6; i++) check_places(tc, o, off[i], (o + i) % 3 != 0);
    close_clean(tc);
}

TEST(places) { check_all_places(open_with("cpu", NULL, 2, NULL)); }
TEST(places_interpreted) { check_all_places(open_with("aot_eager", NULL, 1, NULL)); }
TEST(places_oldest_cpu) {
    if (TEST_SANITIZED) SKIP(no_sanitizer);
    check_all_places(open_with("cpu", NULL, 1, "baseline"));
}

// Reading beside all parts of what is put together, where a pad stands: nobody is asked.
TEST(beside_all_parts) {
    static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int way = 0; way < 2; way++) {
        float got[8];
        tc_config config = tc_config_default();
        config.backend = way ? "aot_eager" : "cpu", config.no_disk_cache = 1;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(tc);
        tc_tensor in = tc_from_data(tc, x, TC_DIMS(8), TC_F32);
        tc_trace_begin(tc, "beside");
        tc_tensor far =
            tc_narrow(tc_pad(tc_roll(in, 3, 0), TC_DIMS(12), TC_DIMS(0), 0), 0, 2, 8);
        tc_tensor y = tc_add(in, tc_mul_s(far, 2));
        tc_tensor parts[2] = {
            in, tc_narrow(tc_pad(tc_roll(in, 3, 0), TC_DIMS(0), TC_DIMS(20), 0), 0, 12, 8)};
        tc_tensor z = tc_sum(tc_cat(parts, 2, 0), 0);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        for (int i = 0; i < 8; i++) CHECK(got[i] == x[i]);
        CHECK_EQ(tc_read(z, got, sizeof *got), TC_OK);
        CHECK(got[0] == 36);
        tc_close(tc);
    }
}
