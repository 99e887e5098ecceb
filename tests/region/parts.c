// Results that are concatenated of equal parts: a kernel makes all parts at a point, so nothing is read
// twice and no element asks which part it is of. Against plain loops over whole numbers, along every
// dimension, sizes known when it runs, in place; and what the kernels' texts must not have.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

enum { MOST = 1 << 16 };

// x [a, b, c] f32 of small whole numbers; in[i] is element i.
static tc_tensor numbers(tc_ctx *tc, int a, int b, int c, float *in) {
    for (int i = 0; i < a * b * c; i++) in[i] = (float)((i * 7 + i / 13) % 29 - 14);
    return tc_from_data(tc, in, TC_DIMS(a, b, c), TC_F32);
}

static void same(tc_tensor y, const float *want, int n) {
    static float got[MOST];
    REQUIRE(tc_numel(y) == n && n <= MOST);
    CHECK_EQ(tc_read(y, got, (size_t)n * sizeof *got), TC_OK);
    for (int i = 0; i < n; i++)
        if (got[i] != want[i]) {
            FAIL("element %d is %g, not %g", i, (double)got[i], (double)want[i]);
            return;
        }
}

// No predicate of the kernel is left in the text of its loops: "valid", or a load's pairs.
static void no_tests(tc_ctx *tc, const char *name) {
    const char *text = tc_region_source(tc, name);
    if (!text || !*text) return; // interpreted
    CHECK(!strstr(text, "valid"));
    CHECK(!strstr(text, "inside"));
}

// k parts of [a, b, c] along dim: part p is x * (p + 1) - (p - 1).
static void parts(tc_ctx *tc, const char *name, int a, int b, int c, int dim, int k) {
    static float in[MOST], want[MOST];
    int size[3] = {a, b, c}, inner = 1, outer = 1;
    for (int i = 0; i < 3; i++)
        inner *= i >= dim ? size[i] : 1, outer *= i < dim ? size[i] : 1;
    tc_tensor x = numbers(tc, a, b, c, in), part[4];
    BEGIN(name);
    for (int p = 0; p < k; p++) part[p] = tc_sub_s(tc_mul_s(x, p + 1), p - 1);
    tc_tensor y = tc_cat(part, k, dim);
    END();
    for (int o = 0; o < outer; o++)
        for (int p = 0; p < k; p++)
            for (int i = 0; i < inner; i++)
                want[(o * k + p) * inner + i] =
                    in[o * inner + i] * (float)(p + 1) - (float)(p - 1);
    same(y, want, a * b * c * k);
    tc_free(x);
}

BOTH(along_every_dimension) {
    for (int dim = 0; dim < 3; dim++)
        for (int k = 2; k <= 4; k++) {
            char name[20];
            snprintf(name, sizeof name, "%d of %d", dim, k);
            parts(tc, name, 5, 6, 64, dim, k);
            no_tests(tc, name);
        }
}

// Columns that are no whole vectors.
BOTH(of_odd_sizes) {
    static const int c[] = {32, 33, 47, 63, 65, 100, 129};
    for (int i = 0; i < 7; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d", c[i]);
        parts(tc, name, 3, 7, c[i], 2, 2 + i % 3);
        no_tests(tc, name);
    }
}

BOTH(of_run_time_sizes) {
    static const int c[] = {40, 64, 33, 100, 7, 1, 65};
    for (int i = 0; i < 7; i++) parts(tc, "last", 3, 2 + i, c[i], 2, 2);
    for (int i = 0; i < 7; i++) parts(tc, "middle", 3, 2 + i, c[i], 1, 3);
    for (int i = 0; i < 7; i++) parts(tc, "first", 3 + i, 2, c[i], 0, 2);
}

// Halves of a row turned by an angle, written in two ways.
static void rotary(tc_ctx *tc, int rows, int half, int turned) {
    static float in[MOST], cosines[MOST], sines[MOST], want[MOST];
    tc_tensor x = numbers(tc, 2, rows, 2 * half, in);
    for (int i = 0; i < rows * 2 * half; i++)
        cosines[i] = (float)(i % (2 * half) % half + i / (2 * half) % 5 - 3),
        sines[i] = (float)(i % (2 * half) % half % 7 - i / (2 * half) % 3);
    tc_tensor c = tc_from_data(tc, cosines, TC_DIMS(rows, 2 * half), TC_F32);
    tc_tensor s = tc_from_data(tc, sines, TC_DIMS(rows, 2 * half), TC_F32), y;
    BEGIN(turned ? "turned" : "halves");
    tc_tensor a = tc_narrow(x, -1, 0, half), b = tc_narrow(x, -1, half, half);
    if (turned) {
        tc_tensor both[2] = {tc_neg(b), a};
        y = tc_add(tc_mul(x, c), tc_mul(tc_cat(both, 2, -1), s));
    } else {
        tc_tensor p = tc_narrow(c, -1, 0, half), q = tc_narrow(s, -1, 0, half);
        tc_tensor both[2] = {tc_sub(tc_mul(a, p), tc_mul(b, q)),
                             tc_add(tc_mul(b, p), tc_mul(a, q))};
        y = tc_cat(both, 2, -1);
    }
    END();
    for (int r = 0; r < 2 * rows; r++)
        for (int i = 0; i < half; i++) {
            const float *at = in + r * 2 * half;
            float p = cosines[r % rows * 2 * half + i], q = sines[r % rows * 2 * half + i];
            want[r * 2 * half + i] = at[i] * p - at[i + half] * q;
            want[r * 2 * half + half + i] = at[i + half] * p + at[i] * q;
        }
    same(y, want, 4 * rows * half);
    if (half >= 32) no_tests(tc, turned ? "turned" : "halves");
}

BOTH(halves_of_heads) { rotary(tc, 30, 64, 0); }
BOTH(turned_halves_of_heads) { rotary(tc, 30, 64, 1); }
BOTH(short_heads) { rotary(tc, 30, 8, 0); }

// A part that others read as well stays in a register; parts of unequal sizes, too many of them, and
// a result that is read by the next kernel are as ever.
BOTH(what_stays_whole) {
    static float in[MOST], want[MOST];
    enum { N = 64, ROWS = 9 };
    tc_tensor x = numbers(tc, 1, ROWS, N, in), part[6];
    BEGIN("shared");
    tc_tensor e = tc_square(x);
    part[0] = e, part[1] = tc_neg(e);
    tc_tensor y = tc_cat(part, 2, -1), z = tc_add_s(e, 1);
    END();
    for (int i = 0; i < ROWS * N; i++) want[i] = in[i] * in[i] + 1;
    same(z, want, ROWS * N);
    for (int i = 0; i < ROWS * N * 2; i++) {
        float v = in[i / (2 * N) * N + i % N];
        want[i] = i % (2 * N) < N ? v * v : -v * v;
    }
    same(y, want, 2 * ROWS * N);
    if (*tc_region_source(tc, "shared"))
        CHECK(!strstr(tc_region_source(tc, "shared"), "kernel1"));
    BEGIN("unequal");
    part[0] = tc_narrow(x, -1, 0, 40), part[1] = tc_mul_s(x, 2);
    y = tc_cat(part, 2, -1);
    END();
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < N + 40; i++)
            want[r * (N + 40) + i] = i < 40 ? in[r * N + i] : 2 * in[r * N + i - 40];
    same(y, want, ROWS * (N + 40));
    BEGIN("six");
    for (int p = 0; p < 6; p++) part[p] = tc_add_s(x, p);
    y = tc_cat(part, 6, -1);
    END();
    for (int i = 0; i < ROWS * N * 6; i++)
        want[i] = in[i / (6 * N) * N + i % N] + (float)(i / N % 6);
    same(y, want, 6 * ROWS * N);
    BEGIN("read again");
    part[0] = tc_mul_s(x, 2), part[1] = tc_mul_s(x, 3);
    y = tc_cat(part, 2, -1);
    z = tc_sum(y, -1);
    END();
    for (int r = 0; r < ROWS; r++) {
        float sum = 0;
        for (int i = 0; i < N; i++) sum += 5 * in[r * N + i];
        want[r] = sum;
    }
    same(z, want, ROWS);
}

// Parts are written where parts are read: halves exchanged, and halves that stay where they are.
BOTH(in_place) {
    enum { N = 64, ROWS = 9 };
    static float in[MOST], want[MOST];
    for (int kind = 0; kind < 3; kind++)
        for (int again = 0; again < 3; again++) {
            static const char *const names[] = {"exchanged", "kept", "doubled"};
            tc_tensor x = numbers(tc, 1, ROWS, 2 * N, in);
            BEGIN(names[kind]);
            tc_tensor a = tc_narrow(x, -1, 0, N), b = tc_narrow(x, -1, N, N), part[2];
            part[0] = tc_mul_s(kind ? a : b, 2);
            part[1] = tc_mul_s(kind == 1 ? b : a, 3);
            tc_copy_(x, tc_cat(part, 2, -1));
            END();
            for (int r = 0; r < ROWS; r++)
                for (int i = 0; i < N; i++) {
                    const float *at = in + r * 2 * N;
                    want[r * 2 * N + i] = 2 * at[kind ? i : N + i];
                    want[r * 2 * N + N + i] = 3 * at[kind == 1 ? N + i : i];
                }
            same(x, want, 2 * ROWS * N);
            tc_free(x);
        }
}
