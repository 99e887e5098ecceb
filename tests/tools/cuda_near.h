// Tensors of known numbers on a device, and how far its results are from those of plain C in double precision. After cuda_device.h.
#ifndef CUDA_NEAR_H
#define CUDA_NEAR_H
#include <math.h>

TEST_UNUSED static double number(size_t i, unsigned of) {
    return (double)((int)(test_word((unsigned)i, of) % 2001) - 1000) / 512;
}

// [n] or [m, n] of them as `dtype` has them, which `value` gets.
TEST_UNUSED static tc_tensor there(tc_ctx *tc, tc_dims d, unsigned of, tc_dtype dtype,
                                   double *value) {
    int64_t n = d.rank > 1 ? d.size[0] * d.size[1] : d.size[0];
    for (int64_t i = 0; i < n; i++) value[i] = number((size_t)i, of);
    tc_tensor t = tc_cast(tc_from_data(tc, value, d, TC_F64), dtype);
    CHECK_EQ(tc_read(tc_cast(t, TC_F64), value, (size_t)n * sizeof *value), TC_OK);
    return tc_to(t, DEVICE_NAME);
}

// Root of the mean square of what differs, by that of what is expected.
TEST_UNUSED static double apart(tc_tensor t, const double *want, int64_t n) {
    double *have = (double *)malloc((size_t)n * sizeof *have), e = 0, all = 1e-30;
    if (!CHECK(have &&
               tc_read(tc_cast(t, TC_F64), have, (size_t)n * sizeof *have) == TC_OK))
        return free(have), (double)INFINITY;
    for (int64_t i = 0; i < n; i++)
        e += (have[i] - want[i]) * (have[i] - want[i]), all += want[i] * want[i];
    free(have);
    return sqrt(e / all);
}

// Whether both have the same bits.
TEST_UNUSED static void check_same(tc_tensor a, tc_tensor b, size_t bytes) {
    void *x = malloc(bytes), *y = malloc(bytes);
    REQUIRE(x && y && tc_read(a, x, bytes) == TC_OK && tc_read(b, y, bytes) == TC_OK);
    CHECK(!memcmp(x, y, bytes));
    free(x), free(y);
}

#endif
