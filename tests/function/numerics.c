// TC_NUMERICS_FAST: compiled code may round a product and its sum once. What it may not do: be far
// from the truth, or change what strict programs give.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { N = 4096 };

// a * b + c * d, and some functions of it
static tc_status visit(tc_ctx *tc, tc_numerics numerics, const tc_tensor *in,
                       tc_tensor *out) {
    tc_options o = tc_options_default();
    o.numerics = numerics;
    tc_trace_begin_at(tc, "numerics", &o, "numerics.c", 1);
    out[0] = tc_keep(tc_add(tc_mul(in[0], in[1]), tc_mul(in[2], in[3])));
    out[1] = tc_keep(tc_exp(tc_mul_s(out[0], 0.25)));
    out[2] = tc_keep(tc_sin(out[0]));
    out[3] = tc_keep(tc_log(tc_add_s(tc_square(out[0]), 1)));
    out[4] = tc_keep(tc_softmax(tc_reshape(out[0], TC_DIMS(N / 64, 64)), -1));
    return tc_trace_end(tc);
}

enum { RESULTS = 5 };

static void read_all(const tc_tensor *out, float (*to)[N]) {
    for (int i = 0; i < RESULTS; i++) CHECK_EQ(tc_read(out[i], to[i], sizeof to[i]), TC_OK);
}

// Largest error of element-wise result i against doubles, in units of the largest of the terms.
static double error_of(int i, const float (*x)[N], const float *got) {
    double most = 0;
    for (int k = 0; k < N; k++) {
        double p = (double)x[0][k] * (double)x[1][k], q = (double)x[2][k] * (double)x[3][k];
        double s = p + q, want = s, scale = fabs(p) + fabs(q);
        if (i == 1)
            want = exp((double)(float)s * 0.25), scale = want * (1 + fabs(p) + fabs(q));
        if (i == 2) want = sin(s), scale = 1 + fabs(p) + fabs(q);
        if (i == 3) want = log(s * s + 1), scale = 1 + fabs(p) + fabs(q);
        double e = fabs((double)got[k] - want) / scale;
        if (e > most) most = e;
    }
    return most;
}

TEST(fast_is_near_the_truth_and_strict_stays_strict) {
    static float x[4][N], strict[RESULTS][N], fast[RESULTS][N], again[RESULTS][N];
    tc_ctx *tc = open_backend("cpu"), *plain = open_backend("aot_eager");
    tc_tensor in[4], there[4], out[RESULTS];
    for (int i = 0; i < 4; i++) {
        in[i] = tc_randn(tc, TC_DIMS(N), TC_F32);
        CHECK_EQ(tc_read(in[i], x[i], sizeof x[i]), TC_OK);
        there[i] = tc_from_data(plain, x[i], TC_DIMS(N), TC_F32);
    }
    CHECK_EQ(visit(tc, TC_NUMERICS_STRICT, in, out), TC_OK);
    read_all(out, strict);
    CHECK_EQ(visit(tc, TC_NUMERICS_FAST, in, out), TC_OK); // another program
    read_all(out, fast);
    CHECK_EQ(visit(tc, TC_NUMERICS_STRICT, in, out), TC_OK);
    read_all(out, again);
    CHECK(!memcmp(strict, again, sizeof strict));
    CHECK_EQ(visit(plain, TC_NUMERICS_FAST, there, out),
             TC_OK); // the interpreter is strict
    read_all(out, again);
    CHECK(!memcmp(strict, again, sizeof strict));
    for (int i = 0; i < 4; i++) {
        CHECK(error_of(i, (const float(*)[N])x, strict[i]) < 3 * 0x1p-24);
        CHECK(error_of(i, (const float(*)[N])x, fast[i]) < 3 * 0x1p-24);
    }
    for (int k = 0; k < N; k++)
        if (!CHECK(fabs((double)fast[4][k] - (double)strict[4][k]) < 0x1p-20)) break;
    tc_close(tc);
    tc_close(plain);
}

// Where the machine has fused multiply-add, it is used.
TEST(fast_is_something_else) {
    tc_ctx *tc = open_backend("cpu");
    tc_tensor in[4], out[RESULTS];
    static float strict[RESULTS][N], fast[RESULTS][N];
    if (tc->target == TC__EMIT_PLAIN) SKIP("the CPU has no fused multiply-add");
    for (int i = 0; i < 4; i++) in[i] = tc_randn(tc, TC_DIMS(N), TC_F32);
    CHECK_EQ(visit(tc, TC_NUMERICS_STRICT, in, out), TC_OK);
    read_all(out, strict);
    CHECK(!strstr(tc_region_source(tc, "numerics"), "TC_NUMERICS_FAST"));
    CHECK_EQ(visit(tc, TC_NUMERICS_FAST, in, out), TC_OK);
    read_all(out, fast);
    CHECK(strstr(tc_region_source(tc, "numerics"), "TC_NUMERICS_FAST"));
    CHECK(memcmp(strict[0], fast[0], sizeof strict[0]) != 0);
    tc_close(tc);
}
