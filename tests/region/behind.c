// Sizes of what is reshaped, squeezed or stacked behind a pad, an inner slice, a cat or a
// convolution: the second size makes the program for all, and each has the bits of eager code.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

static tc_tensor padded(tc_tensor x) {
    return tc_pad(x, TC_DIMS(1, 1), TC_DIMS(1, 2), 0.5);
}

static tc_tensor inner(tc_tensor x) {
    return tc_slice(tc_slice(x, 0, 1, -1, 1), 1, 2, -1, 1);
}

static int64_t rows(tc_tensor x) { return tc_shape(x).size[0]; }
static int64_t columns(tc_tensor x) { return tc_shape(x).size[1]; }

static tc_tensor flat_pad(tc_tensor x) { return tc_reshape(padded(x), TC_DIMS(-1)); }

static tc_tensor pad_in_front(tc_tensor x) {
    tc_tensor p = padded(x);
    return tc_reshape(p, TC_DIMS(1, rows(p), columns(p)));
}

static tc_tensor pad_told(tc_tensor x) {
    return tc_reshape(padded(x), TC_DIMS((rows(x) + 2) * (columns(x) + 3)));
}

static tc_tensor stacked_pads(tc_tensor x) {
    tc_tensor list[2] = {padded(x), tc_neg(padded(x))};
    return tc_stack(list, 2, 1);
}

static tc_tensor squeezed_pad(tc_tensor x) {
    tc_tensor column = tc_slice(x, 1, 0, 1, 1);
    return tc_squeeze(tc_pad(column, TC_DIMS(3, 0), TC_DIMS(1, 0), 2), 1);
}

static tc_tensor flat_inner(tc_tensor x) { return tc_reshape(inner(x), TC_DIMS(-1)); }

static tc_tensor flat_rows(tc_tensor x) {
    return tc_reshape(tc_slice(x, 0, 1, -1, 1), TC_DIMS(-1));
}

static tc_tensor turned_rows(tc_tensor x) {
    tc_tensor y = tc_unsqueeze(tc_slice(tc_t(x), 1, 2, TC_END, 1), 1);
    return tc_reshape(y, TC_DIMS(columns(x), rows(x) - 2));
}

static tc_tensor stacked_inner(tc_tensor x) {
    tc_tensor list[3] = {inner(x), tc_mul_s(inner(x), 2), inner(tc_exp(x))};
    return tc_reshape(tc_stack(list, 3, 0), TC_DIMS(3, -1));
}

static tc_tensor flat_cat(tc_tensor x) {
    tc_tensor list[2] = {x, tc_slice(x, 0, 0, 2, 1)};
    return tc_reshape(tc_cat(list, 2, 0), TC_DIMS(-1));
}

static tc_tensor convolved(tc_tensor x) {
    tc_tensor image = tc_reshape(x, TC_DIMS(1, 1, rows(x), columns(x)));
    tc_tensor w = tc_reshape(tc_add_s(tc_slice(tc_slice(x, 0, 0, 3, 1), 1, 0, 3, 1), 1),
                             TC_DIMS(1, 1, 3, 3));
    tc_tensor y = tc_conv2d(image, w, tc_null(), 1, 0, 1, 1);
    return tc_reshape(y, TC_DIMS(rows(x) - 2, columns(x) - 2));
}

static tc_tensor flat_convolved(tc_tensor x) {
    return tc_reshape(convolved(x), TC_DIMS(-1));
}

// The nine neighbours of each element in a column of their own.
static tc_tensor neighbours(tc_tensor x) {
    tc_tensor p = tc_pad(x, TC_DIMS(1, 1), TC_DIMS(1, 1), 0), list[9];
    for (int i = 0; i < 9; i++)
        list[i] = tc_slice(tc_slice(p, 0, i / 3, i / 3 + rows(x), 1), 1, i % 3,
                           i % 3 + columns(x), 1);
    return tc_reshape(tc_stack(list, 9, 0), TC_DIMS(9, rows(x) * columns(x)));
}

static tc_tensor padded_inner_flat(tc_tensor x) {
    tc_tensor y = tc_pad(inner(x), TC_DIMS(2, 2), TC_DIMS(2, 2), 0);
    return tc_reshape(tc_unsqueeze(y, 0), TC_DIMS(rows(y), 1, columns(y)));
}

static const struct chain {
    const char *name;
    tc_tensor (*make)(tc_tensor x);
} chains[] = {
    {"flat pad", flat_pad},           {"pad in front", pad_in_front},
    {"pad told", pad_told},           {"stacked pads", stacked_pads},
    {"squeezed pad", squeezed_pad},   {"flat inner", flat_inner},
    {"stacked inner", stacked_inner}, {"flat cat", flat_cat},
    {"convolved", convolved},         {"flat convolved", flat_convolved},
    {"neighbours", neighbours},       {"padded inner", padded_inner_flat},
    {"flat rows", flat_rows},         {"turned rows", turned_rows},
};

enum { SIZES = 6, ELEMENTS_MOST = 1 << 14 };

static void check_size(tc_ctx *tc, const struct chain *c, int n, int m, int columns_vary) {
    static float got[ELEMENTS_MOST], want[ELEMENTS_MOST];
    char name[64];
    snprintf(name, sizeof name, "%s%s", c->name, columns_vary ? " both" : "");
    tc_tensor x = line(tc, n * m, -1, 0.125), y;
    x = tc_reshape(x, TC_DIMS(n, m));
    tc_tensor eager = tc_mul_s(c->make(x), 2);
    BEGIN(name);
    y = tc_mul_s(c->make(x), 2);
    END();
    int64_t count = tc_numel(eager);
    REQUIRE(count <= ELEMENTS_MOST);
    CHECK_EQ(tc_rank(y), tc_rank(eager));
    CHECK_EQ(tc_numel(y), count);
    CHECK_EQ(tc_read(y, got, (size_t)count * 4), TC_OK);
    CHECK_EQ(tc_read(eager, want, (size_t)count * 4), TC_OK);
    if (memcmp(got, want, (size_t)count * 4)) FAIL("%s of %d x %d", c->name, n, m);
}

// One program for the first size, one for all; where the columns begin to differ later, another.
static void check_chain(tc_ctx *tc, const struct chain *c, int vary) {
    static const int size[SIZES][2] = {{5, 9},   {6, 9},  {8, 12},
                                       {11, 20}, {7, 33}, {12, 10}};
    uint64_t before = tc_stats_get(tc).programs;
    for (int i = 0; i < SIZES; i++)
        check_size(tc, c, size[i][0], vary ? size[i][1] : 9, vary);
    int made = (int)(tc_stats_get(tc).programs - before);
    if (made > 2 + vary) FAIL("%s: %d programs for %d sizes", c->name, made, SIZES);
}

BOTH(sizes_behind) {
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        check_chain(tc, &chains[i], 0);
        check_chain(tc, &chains[i], 1);
    }
}
