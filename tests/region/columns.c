// Reductions of columns, whose vectors run along rows of the result: steps of many elements, what is left over, pieces that begin
// anywhere. Sums have the order that is promised.
#include "tcompile.h"

#include "harness.h"
#include "help.h"
#include "sums.h"

enum { MOST = 1 << 21 };

static const int sizes[][2] = {
    {64, 128}, {64, 33},    {65, 127},   {100, 1000}, {700, 333},
    {63, 256}, {8300, 130}, {90, 20001}, {64, 160},   {2000, 1024},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static float number(int i) { return (float)test_number((unsigned)i, 3); }

static void check(tc_ctx *tc, tc_dynamic dynamic) {
    static float x[MOST], got[3][1 << 15];
    static double wide[1 << 15];
    tc_options o = tc_options_default();
    REQUIRE(tc);
    o.dynamic = dynamic;
    for (int s = 0; s < SIZES; s++) {
        int rows = sizes[s][0], columns = sizes[s][1], wrong[4] = {0};
        size_t bytes = (size_t)columns * sizeof(float);
        REQUIRE(rows * columns <= MOST);
        for (int i = 0; i < rows * columns; i++) x[i] = number(i);
        tc_scope_begin(tc);
        tc_tensor in = tc_from_data(tc, x, TC_DIMS(rows, columns), TC_F32);
        tc_tensor doubles = tc_cast(in, TC_F64);
        tc_trace_begin_with(tc, "columns", &o);
        tc_tensor sum = tc_sum(in, 0), most = tc_amax(in, 0);
        tc_tensor squares = tc_sum(tc_mul(in, in), 0), all = tc_sum(doubles, 0);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(sum, got[0], bytes), TC_OK);
        CHECK_EQ(tc_read(most, got[1], bytes), TC_OK);
        CHECK_EQ(tc_read(squares, got[2], bytes), TC_OK);
        CHECK_EQ(tc_read(all, wide, 2 * bytes), TC_OK);
        for (int c = 0; c < columns; c++) {
            float top = x[c];
            double total = 0;
            wrong[0] += got[0][c] != promised_sum(x + c, rows, columns);
            for (int r = 0; r < rows; r++) {
                float v = x[r * columns + c];
                top = v > top ? v : top, total += v;
            }
            wrong[1] += got[1][c] != top;
            wrong[3] += !(wide[c] - total < 1e-9 && total - wide[c] < 1e-9);
        }
        for (int i = 0; i < rows * columns; i++) x[i] = number(i) * number(i);
        for (int c = 0; c < columns; c++)
            wrong[2] += got[2][c] != promised_sum(x + c, rows, columns);
        for (int k = 0; k < 4; k++)
            if (wrong[k])
                FAIL("%dx%d: %d of kind %d are wrong", rows, columns, wrong[k], k);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
}

TEST(interpreted) { check(open_as("aot_eager", NULL, 2), TC_DYNAMIC_OFF); }
TEST(one_thread) { check(open_as("cpu", NULL, 1), TC_DYNAMIC_OFF); }
TEST(three_threads) { check(open_as("cpu", NULL, 3), TC_DYNAMIC_OFF); }
TEST(any_size) { check(open_as("cpu", NULL, 2), TC_DYNAMIC_ON); }
TEST(avx2) { check(open_as("cpu", "avx2", 3), TC_DYNAMIC_OFF); }
TEST(baseline) { check(open_as("cpu", "baseline", 2), TC_DYNAMIC_AUTO); }
