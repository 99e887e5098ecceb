// Loops whose state is a result of the visit before, used inside the region as well, and written in place, on a
// device: what is read late is computed from what its inputs held, and learnt once. The forms of
// tests/region/loops.c; values come from plain C.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { N = 40, VISITS = 12 }; // more than the 16 elements that are always outputs

#define DEVICE(name)                                                                       \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) { on_device(body_##name); }                                                 \
    static void body_##name(tc_ctx *tc)

static void on_device(void (*body)(tc_ctx *)) {
    tc_config config = tc_config_default();
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

static tc_tensor there(tc_ctx *tc, int n, double from, double step) {
    tc_tensor t = line(tc, n, from, step), d = tc_to(t, DEVICE_NAME);
    tc_free(t);
    return d;
}

DEVICE(state_that_is_also_consumed) {
    tc_tensor c = there(tc, N, 1, 0);
    double x = 1;
    for (int k = 0; k < VISITS; k++, x /= 2) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(c, 0.5), s = tc_sum_all(tc_square(tc_sub(n, c)));
        END();
        c = n;
        CHECK_EQ(tc_item(s) == N * x * x / 4, 1);
    }
    CHECK_EQ(AT(c, 3) == x, 1);
    CHECK_EQ(tc_explain_counts(tc, "loop").graphs, 1);
}

// The region writes what the late result is computed from.
DEVICE(written_and_read_late) {
    tc_tensor w = there(tc, N, 1, 1), v = there(tc, N, 0, 0);
    double a = 1, b = 0;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("written");
        tc_tensor g = tc_mul_s(w, 0.5), m = tc_add(tc_mul_s(v, 0.5), g);
        tc_copy_(v, m);
        tc_sub_(w, tc_mul_s(m, 0.5));
        END();
        // Of element i: w = a (i + 1), v = b (i + 1).
        double g1 = a / 2, m1 = b / 2 + g1;
        b = m1, a -= m1 / 2;
        CHECK_EQ(AT(g, 3) == (double)(float)(g1 * 4), 1);
        CHECK_NEAR(AT(m, 3), m1 * 4, 1e-5);
        CHECK_NEAR(AT(w, 3), a * 4, 1e-5);
        if (k > VISITS / 2) CHECK_EQ(tc_explain_counts(tc, "written").graphs, 1);
    }
}

// It is written behind the region: by an eager op, by a call into it, by another region, by what another visit
// of the region does.
DEVICE(written_behind_the_region) {
    for (int how = 0; how < 3; how++) {
        tc_reset(tc);
        tc_tensor x = there(tc, N, 1, 1), late[2];
        for (int k = 0; k < 3; k++) {
            BEGIN("behind");
            late[0] = tc_mul_s(x, 2);
            late[1] = tc_mul_s(tc_slice(x, 0, 5, TC_END, 3), 3);
            tc_tensor y = tc_sum_all(tc_add_s(late[0], 1)), z = tc_sum_all(late[1]);
            END();
            CHECK_EQ(tc_item(y), 2 * (N * (N + 1) / 2 + N * k * 10) + N);
            (void)z;
            if (how == 0) tc_add_s_(x, 10);
            if (how == 1) tc_copy_(tc_narrow(x, 0, 0, N), tc_add_s(x, 10));
            if (how == 2) {
                BEGIN("writes");
                tc_add_s_(x, 10);
                END();
            }
            CHECK_EQ(AT(late[0], 7), 2 * (8 + 10 * k));
            CHECK_EQ(AT(late[1], 1), 3 * (9 + 10 * k));
            CHECK_EQ(AT(x, 0), 1 + 10 * (k + 1));
        }
        tc_free(x);
    }
}

// A cell of two states, of which each is used by the other, and a state of two visits ago.
DEVICE(states_that_take_turns) {
    tc_tensor a = there(tc, N, 1, 0), b = there(tc, N, 2, 0);
    double x = 1, y = 2;
    for (int k = 0; k < VISITS; k++) {
        BEGIN("loop");
        tc_tensor n = tc_mul_s(tc_add(tc_mul_s(a, 0.5), b), 0.5), s = tc_sum_all(n);
        END();
        double z = (x / 2 + y) / 2;
        b = a, a = n, y = x, x = z;
        CHECK_NEAR(tc_item(s), N * x, 1e-5);
    }
    CHECK_EQ(tc_explain_counts(tc, "loop").graphs, 1);
}

// A buffer that is another part of the same memory each time: the copy begins where the view does.
DEVICE(parts_of_one_buffer) {
    tc_tensor base = there(tc, 8 * N, 0, 1);
    for (int k = 0; k < 7; k++) {
        tc_tensor part = tc_narrow(base, 0, k * N + 3, N);
        BEGIN("parts");
        tc_tensor late = tc_mul_s(part, 2), s = tc_sum_all(tc_add_s(late, 1));
        tc_mul_s_(part, -1);
        END();
        CHECK_EQ(tc_item(s), 2 * N * (k * N + 3) + N * (N - 1) + N);
        for (int i = 0; i < N; i += 13) CHECK_EQ(AT(late, i), 2 * (k * N + 3 + i));
        CHECK_EQ(AT(base, k * N + 3), -(k * N + 3));
    }
}

// ---- tc_scan ----

static void sum_so_far(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = out[1] = tc_add(in[0], in[1]);
}

static void carry_alone(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = out[1] = in[0];
}

// Rows of 56 bytes: a turn's row begins where no 16 bytes can be stored at once. A copy of the carry is, but for that,
// the kernel that stores the first one.
static void check_rows(tc_ctx *tc, tc_body body, int copies) {
    enum { ROWS = 5, WIDE = 14 };
    tc_tensor x = tc_reshape(there(tc, ROWS * WIDE, 1, 1), TC_DIMS(ROWS, WIDE));
    tc_tensor h = there(tc, WIDE, 3, 1), last, ys;
    for (int visit = 0; visit < 3; visit++) {
        BEGIN("rows");
        tc_scan(body, NULL, &h, 1, &x, 1, &last, &ys, 1);
        END();
        for (int k = 0, i = 0; k < ROWS; k++)
            for (int c = 0; c < WIDE; c++, i++) {
                int sum = (k + 1) * (1 + c) + WIDE * k * (k + 1) / 2;
                CHECK_EQ(AT(ys, i), 3 + c + (copies ? 0 : sum));
            }
    }
}

DEVICE(rows_that_are_not_aligned) { check_rows(tc, sum_so_far, 0); }
DEVICE(rows_that_are_copies) { check_rows(tc, carry_alone, 1); }
