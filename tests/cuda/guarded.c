// Writes in place of a program whose indices are looked at: its kernels write tensors of the user's themselves, and none of
// them where an index was wrong, whatever was computed by then. On a GPU or on the emulator.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { ROWS = 40, WIDTH = 24, PICKS = 16, STATES = 6, LONG = 700 };

typedef struct state {
    tc_ctx *tc;
    tc_tensor table, gain[STATES]; // on the device; each gain [LONG]
    float table_was[ROWS * WIDTH], gain_was[STATES][LONG];
} state;

static tc_tensor on_device(tc_ctx *tc, const void *data, tc_dims dims, tc_dtype dtype) {
    tc_tensor host = tc_from_data(tc, data, dims, dtype), t = tc_to(host, DEVICE_NAME);
    tc_free(host);
    return t;
}

static void state_open(state *s) {
    s->tc = tc_open(NULL);
    REQUIRE(open_device(s->tc));
    for (int i = 0; i < ROWS * WIDTH; i++)
        s->table_was[i] = (float)test_number((uint32_t)i, 1);
    s->table = on_device(s->tc, s->table_was, TC_DIMS(ROWS, WIDTH), TC_F32);
    for (int k = 0; k < STATES; k++) {
        for (int i = 0; i < LONG; i++)
            s->gain_was[k][i] = (float)test_number((uint32_t)i, 2 + (uint32_t)k);
        s->gain[k] = on_device(s->tc, s->gain_was[k], TC_DIMS(LONG), TC_F32);
    }
}

static void state_close(state *s) {
    tc_free(s->table);
    for (int k = 0; k < STATES; k++) tc_free(s->gain[k]);
    tc_close(s->tc);
    check_device_closed();
}

// One step: rows are picked, and all gains change by what they sum to; the table by a factor.
static tc_status step(state *s, const int32_t *picks, int after) {
    tc_tensor at = on_device(s->tc, picks, TC_DIMS(PICKS), TC_I32);
    tc_trace_begin(s->tc, "guarded");
    tc_tensor sum = tc_sum_all(tc_embedding(s->table, at)); // indices are looked at here
    for (int k = 0; k < STATES; k++) tc_add_(s->gain[k], tc_mul_s(sum, 0.5 + k));
    if (after) tc_add_(s->gain[0], tc_sum_all(tc_embedding(s->table, tc_neg(at))));
    tc_status status = tc_trace_end(s->tc);
    tc_free(at);
    return status;
}

static void expect(state *s, const int32_t *picks, int times, int after) {
    float have[LONG];
    double sum = 0, other = 0;
    for (int i = 0; i < PICKS * WIDTH; i++) {
        int32_t row = picks[i / WIDTH], turned = row ? ROWS - row : 0;
        sum += s->table_was[row * WIDTH + i % WIDTH];
        other += s->table_was[turned * WIDTH + i % WIDTH];
    }
    for (int k = 0; k < STATES; k++) {
        CHECK_EQ(tc_read(s->gain[k], have, sizeof have), TC_OK);
        double more = times * (sum * (0.5 + k) + (after && !k ? other : 0));
        for (int c = 0; c < LONG; c++) {
            double want = s->gain_was[k][c] + more;
            CHECK(fabs(have[c] - want) <= 1e-4 * (1 + fabs(more)) ||
                  FAIL("gain %d, %d is %g, not %g", k, c, (double)have[c], want));
        }
    }
}

static void run_steps(int after) {
    state s;
    int32_t good[PICKS], bad[PICKS];
    state_open(&s);
    for (int i = 0; i < PICKS; i++) good[i] = bad[i] = (i * 7) % ROWS;
    bad[11] = ROWS + 3;
    int times = 0;
    for (int turn = 0; turn < 9;
         turn++) { // the first ones are interpreted, or copy what is written
        int wrong = turn % 3 == 1;
        tc_status status = step(&s, wrong ? bad : good, after);
        CHECK_EQ(status, wrong ? TC_E_INDEX : TC_OK);
        CHECK(!wrong || strstr(tc_error_text(s.tc), "out of range for size 40"));
        if (wrong) tc_error_clear(s.tc);
        times += !wrong;
        expect(&s, good, times, after);
    }
    CHECK(tc_error(s.tc) == TC_OK || FAIL("%s", tc_error_text(s.tc)));
    state_close(&s);
}

TEST(nothing_is_written_where_an_index_was_wrong) { run_steps(0); }

// Something is looked at behind the first write: then it is no kernel that writes the tensor.
TEST(nor_where_one_is_looked_at_later) { run_steps(1); }

// Kernels write the tensors themselves, all of them.
TEST(kernels_write_in_place) {
    state s;
    int32_t good[PICKS];
    state_open(&s);
    for (int i = 0; i < PICKS; i++) good[i] = i;
    for (int turn = 0; turn < 4; turn++)
        CHECK(step(&s, good, 0) == TC_OK || FAIL("%s", tc_error_text(s.tc)));
    const char *text = tc_explain(s.tc);
    int written = 0, itself = 0;
    for (const char *at = text; (at = strstr(at, "written back to x")) != NULL; at++) {
        written++;
        itself += !strncmp(strchr(at, ','), ", written by the kernel itself", 30);
    }
    CHECK(written >= STATES);
    CHECK_EQ(itself, written);
    state_close(&s);
}
