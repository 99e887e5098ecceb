// Tensors as text: what PyTorch prints for the same values, in any locale.
#include "harness.h"

#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"
#include "help.h"

#include <locale.h>

static tc_ctx *tc;

static void check_shown(tc_tensor t, const char *want, int line) {
    const void *data;
    const tc__layout *l;
    int64_t offset;
    tc__text text;
    tc__text_init(&text, tc);
    if (tc__host_view(tc, "show", t, NULL, &data, &l, &offset) == TC_OK)
        tc__show(&text, data, l, offset);
    if (strcmp(text.at, want)) FAIL("line %d:\n%s\n%s", line, text.at, want);
    tc__text_free(&text);
}
#define SHOWN(t, want) check_shown(t, want, __LINE__)

static tc_tensor floats(int n, const double *v) {
    return tc_cast(tc_from_data(tc, v, TC_DIMS(n), TC_F64), TC_F32);
}

TEST(forms) {
    static const double fixed[] = {0.1, -2, 3}, whole[] = {1, -2, 0},
                        wide[] = {1e-3, 1e3, 0}, small[] = {1e-5, 2e-5}, big[] = {1e9, 1};
    tc = open_backend("aot_eager");
    SHOWN(floats(3, fixed), "tensor([ 0.1000, -2.0000,  3.0000])\n");
    SHOWN(floats(3, whole), "tensor([ 1., -2.,  0.])\n");
    SHOWN(floats(3, wide), "tensor([1.0000e-03, 1.0000e+03, 0.0000e+00])\n");
    SHOWN(floats(2, small), "tensor([1.0000e-05, 2.0000e-05])\n");
    SHOWN(floats(2, big), "tensor([1.0000e+09, 1.0000e+00])\n");
    SHOWN(tc_log(floats(3, whole)), "tensor([  0.,  nan, -inf])\n");
    SHOWN(tc_full(tc, TC_SCALAR, 2.5, TC_F32), "tensor(2.5000)\n");
    SHOWN(tc_full(tc, TC_SCALAR, 3, TC_F64), "tensor(3., dtype=f64)\n");
    SHOWN(tc_arange(tc, 9, 12, 1, TC_I64), "tensor([ 9, 10, 11])\n");
    SHOWN(tc_arange(tc, 9, 12, 1, TC_U8), "tensor([ 9, 10, 11], dtype=u8)\n");
    SHOWN(tc_eye(tc, 2, 2, TC_BOOL), "tensor([[ True, False],\n        [False,  True]])\n");
    SHOWN(tc_zeros(tc, TC_DIMS(0), TC_F32), "tensor([])\n");
    SHOWN(tc_zeros(tc, TC_DIMS(0, 3), TC_I32), "tensor([], size=(0, 3), dtype=i32)\n");
    tc_close(tc);
}

// Numbers that a half holds exactly, and the nearest one that it holds where it does not.
TEST(narrow_types) {
    static const double fixed[] = {0.1, -2, 3}, far[] = {65504, 70000, -1e-8};
    static const double whole[] = {-128, 127, 5};
    tc = open_backend("aot_eager");
    tc_tensor x = floats(3, fixed), y = floats(3, far), z = floats(3, whole);
    SHOWN(tc_cast(x, TC_F16), "tensor([ 0.1000, -2.0000,  3.0000], dtype=f16)\n");
    SHOWN(tc_cast(x, TC_BF16), "tensor([ 0.1001, -2.0000,  3.0000], dtype=bf16)\n");
    SHOWN(tc_cast(x, TC_F8E4M3), "tensor([ 0.1016, -2.0000,  3.0000], dtype=f8e4m3)\n");
    SHOWN(tc_cast(x, TC_F8E5M2), "tensor([ 0.0938, -2.0000,  3.0000], dtype=f8e5m2)\n");
    SHOWN(tc_cast(y, TC_F16), "tensor([65504.,    inf,    -0.], dtype=f16)\n");
    SHOWN(tc_cast(y, TC_BF16),
          "tensor([ 6.5536e+04,  7.0144e+04, -1.0012e-08], dtype=bf16)\n");
    SHOWN(tc_log(tc_cast(floats(3, fixed), TC_BF16)),
          "tensor([-2.2969,     nan,  1.1016], dtype=bf16)\n");
    SHOWN(tc_cast(z, TC_I8), "tensor([-128,  127,    5], dtype=i8)\n");
    SHOWN(tc_mul_s(tc_cast(z, TC_I16), 256),
          "tensor([-32768,  32512,   1280], dtype=i16)\n");
    tc_close(tc);
}

TEST(blocks_and_views) {
    tc = open_backend("aot_eager");
    tc_tensor x = tc_reshape(tc_arange(tc, 0, 8, 1, TC_I64), TC_DIMS(2, 2, 2));
    SHOWN(x,
          "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])\n");
    SHOWN(tc_transpose(tc_select(x, 0, 1), 0, 1), "tensor([[4, 6],\n        [5, 7]])\n");
    tc_close(tc);
}

TEST(long_lines_wrap) {
    tc = open_backend("aot_eager");
    SHOWN(
        tc_arange(tc, 0, 30, 1, TC_I64),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])\n");
    tc_close(tc);
}

TEST(more_than_1000_elements_are_cut) {
    tc = open_backend("aot_eager");
    SHOWN(tc_arange(tc, 0, 1001, 1, TC_I64),
          "tensor([   0,    1,    2,  ...,  998,  999, 1000])\n");
    SHOWN(tc_reshape(tc_arange(tc, 0, 1100, 1, TC_I64), TC_DIMS(11, 100)),
          "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
          "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
          "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
          "        ...,\n"
          "        [ 800,  801,  802,  ...,  897,  898,  899],\n"
          "        [ 900,  901,  902,  ...,  997,  998,  999],\n"
          "        [1000, 1001, 1002,  ..., 1097, 1098, 1099]])\n");
    tc_close(tc);
}

// The decimal point of the locale, one byte or more, never shows.
TEST(locale) {
    static const char *const points[] = {"1,5", "-12,5e+03",
                                         "1\xd9\xab"
                                         "5",
                                         "1.5", "7"};
    static const char *const want[] = {"1.5", "-12.5e+03", "1.5", "1.5", "7"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char s[32];
        snprintf(s, sizeof s, "%s", points[i]);
        CHECK_EQ(tc__show_point(s), strlen(want[i]));
        CHECK_STR(s, want[i]);
    }
    static const double fixed[] = {0.5, -2};
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) return;
    tc = open_backend("aot_eager");
    SHOWN(floats(2, fixed), "tensor([ 0.5000, -2.0000])\n");
    tc_close(tc);
}
