// Borders, for the tests of compiled kernels and of a device: pads, slices, concatenations and stencils
// of an image, each together with plain loops in double that say what it has to be. Values are small
// whole numbers, which every dtype holds and adds exactly; of bool, 0 and 1. After harness.h.
#ifndef TEST_BORDER_H
#define TEST_BORDER_H

#include <stdlib.h>
#include <string.h>

// A tensor [h, w], and what it must be.
typedef struct both {
    tc_tensor t;
    int64_t h, w;
    double *v;
} both;

enum { BORDER_MOST = 4096 };
static double *border_owned[BORDER_MOST]; // freed by border_free
static int border_count;

static both border_new(tc_tensor t, int64_t h, int64_t w) {
    both b;
    b.t = t, b.h = h, b.w = w, b.v = (double *)calloc((size_t)(h * w + 1), sizeof *b.v);
    border_owned[border_count++] = b.v;
    return b;
}

static void border_free(void) {
    while (border_count) free(border_owned[--border_count]);
}

// ---- what is done to both sides ----

static both shape_of(both a) { return border_new(a.t, a.h, a.w); }

static both padded(both a, int64_t top, int64_t bottom, int64_t left, int64_t right,
                   double fill) {
    both b = border_new(tc_pad(a.t, TC_DIMS(top, left), TC_DIMS(bottom, right), fill),
                        a.h + top + bottom, a.w + left + right);
    for (int64_t r = 0; r < b.h; r++)
        for (int64_t c = 0; c < b.w; c++) {
            int64_t y = r - top, x = c - left;
            int in = y >= 0 && y < a.h && x >= 0 && x < a.w;
            b.v[r * b.w + c] = in ? a.v[y * a.w + x] : fill;
        }
    return b;
}

// Which element stands at place i of n and what is around them.
static int64_t border_place(int64_t i, int64_t n, int mode) {
    if (mode == TC_PAD_CIRCULAR) return (i + n) % n;
    if (mode == TC_PAD_REPLICATE) return i < 0 ? 0 : i < n ? i : n - 1;
    return i < 0 ? -i : i < n ? i : 2 * n - 2 - i;
}

static both padded_with(both a, int64_t top, int64_t bottom, int64_t left, int64_t right,
                        int mode) {
    tc_tensor t =
        tc_pad_with(a.t, TC_DIMS(top, left), TC_DIMS(bottom, right), (tc_pad_mode)mode);
    both b = border_new(t, a.h + top + bottom, a.w + left + right);
    for (int64_t r = 0; r < b.h; r++)
        for (int64_t c = 0; c < b.w; c++)
            b.v[r * b.w + c] = a.v[border_place(r - top, a.h, mode) * a.w +
                                   border_place(c - left, a.w, mode)];
    return b;
}

static both cut(both a, int64_t top, int64_t left, int64_t h, int64_t w) {
    both b = border_new(tc_narrow(tc_narrow(a.t, 0, top, h), 1, left, w), h, w);
    for (int64_t r = 0; r < h; r++)
        for (int64_t c = 0; c < w; c++) b.v[r * w + c] = a.v[(r + top) * a.w + c + left];
    return b;
}

// Every `step`th row and column.
static both thinned(both a, int64_t step) {
    tc_tensor t = tc_slice(tc_slice(a.t, 0, 0, TC_END, step), 1, 0, TC_END, step);
    both b = border_new(t, (a.h + step - 1) / step, (a.w + step - 1) / step);
    for (int64_t r = 0; r < b.h; r++)
        for (int64_t c = 0; c < b.w; c++) b.v[r * b.w + c] = a.v[r * step * a.w + c * step];
    return b;
}

static both flipped(both a) {
    both b = shape_of(a);
    b.t = tc_flip(a.t, TC_DIMS(0, 1));
    for (int64_t i = 0; i < a.h * a.w; i++) b.v[i] = a.v[a.h * a.w - 1 - i];
    return b;
}

static both joined(const both *part, int n, int dim) {
    tc_tensor list[8] = {part[0].t};
    int64_t h = 0, w = 0, at = 0;
    for (int i = 0; i < n; i++) {
        list[i] = part[i].t;
        h = dim ? part[i].h : h + part[i].h, w = dim ? w + part[i].w : part[i].w;
    }
    both b = border_new(tc_cat(list, n, dim), h, w);
    for (int i = 0; i < n; at += dim ? part[i].w : part[i].h, i++)
        for (int64_t r = 0; r < part[i].h; r++)
            for (int64_t c = 0; c < part[i].w; c++)
                b.v[(dim ? r : r + at) * w + (dim ? c + at : c)] =
                    part[i].v[r * part[i].w + c];
    return b;
}

static int is_bool(both a) { return tc_dtype_of(a.t) == TC_BOOL; }

// The sum; of bool, whether there is any.
static both sum_of(both a, both b) {
    both s = shape_of(a);
    s.t = is_bool(a) ? tc_logical_or(a.t, b.t) : tc_add(a.t, b.t);
    for (int64_t i = 0; i < a.h * a.w; i++) {
        s.v[i] = a.v[i] + b.v[i];
        if (is_bool(a)) s.v[i] = s.v[i] != 0;
    }
    return s;
}

// 2 a + 1; of bool, its opposite.
static both twice(both a) {
    both s = shape_of(a);
    s.t = is_bool(a) ? tc_logical_not(a.t) : tc_add_s(tc_mul_s(a.t, 2), 1);
    for (int64_t i = 0; i < a.h * a.w; i++)
        s.v[i] = is_bool(a) ? a.v[i] == 0 : 2 * a.v[i] + 1;
    return s;
}

// Of what lies around the inside of a, four neighbours of each.
static both neighbours(both a, int64_t reach) {
    int64_t h = a.h - 2 * reach, w = a.w - 2 * reach;
    both s = sum_of(cut(a, 0, reach, h, w), cut(a, 2 * reach, reach, h, w));
    s = sum_of(s, cut(a, reach, 0, h, w));
    return sum_of(s, cut(a, reach, 2 * reach, h, w));
}

// ---- what is tested: each has one result ----

typedef struct scene {
    const char *name;
    both (*run)(both x, int64_t b); // b: width of the border
    int64_t least;                  // rows and columns more than 2 b
} scene;

static both pad_of_inside(both x, int64_t b) {
    return padded(neighbours(x, b), b, b, b, b, 1);
}

static both pad_one_side(both x, int64_t b) { return padded(twice(x), 0, b, b, 0, 0); }

static both inside_of_pad(both x, int64_t b) {
    return neighbours(padded(x, b, b, b, b, 0), b);
}

static both inside_of_reflected(both x, int64_t b) {
    return neighbours(padded_with(x, b, b, b, b, TC_PAD_REFLECT), b);
}

static both inside_of_replicated(both x, int64_t b) {
    return neighbours(padded_with(x, b, b, b, b, TC_PAD_REPLICATE), b);
}

static both inside_of_circle(both x, int64_t b) {
    return neighbours(padded_with(x, b, b, b, b, TC_PAD_CIRCULAR), b);
}

// Its own width on every side.
static both reflected_on_two_sides(both x, int64_t b) {
    return padded_with(twice(padded_with(x, b, 0, 0, 1, TC_PAD_REFLECT)), 0, b, 2, b,
                       TC_PAD_REPLICATE);
}

static both pad_of_pad(both x, int64_t b) {
    return padded(twice(padded(twice(x), 1, b, 0, b, 0)), b, 0, b, 2, 1);
}

static both edges_and_inside(both x, int64_t b) {
    both row[3] = {cut(x, b, 0, x.h - 2 * b, b), neighbours(x, b),
                   cut(x, b, x.w - b, x.h - 2 * b, b)};
    both all[3] = {cut(x, 0, 0, b, x.w), joined(row, 3, 1),
                   twice(cut(x, x.h - b, 0, b, x.w))};
    return joined(all, 3, 0);
}

static both columns_side_by_side(both x, int64_t b) {
    both part[4] = {x, twice(x), cut(x, 0, 0, x.h, b), sum_of(x, twice(x))};
    return joined(part, 4, 1);
}

static both rows_one_below_the_other(both x, int64_t b) {
    both part[4] = {cut(x, 0, 0, b, x.w), twice(x), x, sum_of(x, twice(x))};
    return joined(part, 4, 0);
}

static both pad_of_cat(both x, int64_t b) {
    both part[2] = {twice(x), x};
    return padded(joined(part, 2, 1), b, 1, 1, b, 1);
}

static both every_second_of_pad(both x, int64_t b) {
    both p = padded(x, b, b, b, b, 0);
    return sum_of(thinned(cut(p, 0, 0, x.h, x.w), 2), thinned(cut(p, b, b, x.h, x.w), 2));
}

static both flip_of_pad(both x, int64_t b) {
    return sum_of(flipped(padded(x, b, 0, 0, b, 1)), padded(twice(x), 0, b, b, 0, 0));
}

// Into the inside of a tensor of ones.
static both copy_into_inside(both x, int64_t b) {
    both y = twice(x), s = shape_of(x);
    tc_tensor all = tc_clone(y.t);
    both part = neighbours(x, b);
    tc_copy_(tc_narrow(tc_narrow(all, 0, b, part.h), 1, b, part.w), part.t);
    s.t = all;
    memcpy(s.v, y.v, sizeof *s.v * (size_t)(x.h * x.w));
    for (int64_t r = 0; r < part.h; r++)
        for (int64_t c = 0; c < part.w; c++)
            s.v[(r + b) * x.w + c + b] = part.v[r * part.w + c];
    return s;
}

// Sums of rows, whose order is that of columns: [h, 1].
static both sum_of_pad(both x, int64_t b) {
    both p = padded(twice(x), b, 0, b, b, 1);
    both s = border_new(p.t, p.h, 1);
    s.t = is_bool(x) ? tc_any(p.t, 1) : tc_sum(p.t, 1);
    s.t = tc_reshape(s.t, TC_DIMS(p.h, 1));
    for (int64_t r = 0; r < p.h; r++)
        for (int64_t c = 0; c < p.w; c++)
            s.v[r] = is_bool(x) ? s.v[r] != 0 || p.v[r * p.w + c] != 0
                                : s.v[r] + p.v[r * p.w + c];
    return s;
}

static const scene scenes[] = {
    {"pad of the inside", pad_of_inside, 1},
    {"pad on one side", pad_one_side, 1},
    {"inside of a pad", inside_of_pad, 1},
    {"inside of what is reflected", inside_of_reflected, 2},
    {"inside of what is repeated", inside_of_replicated, 1},
    {"inside of a circle", inside_of_circle, 1},
    {"reflected and repeated", reflected_on_two_sides, 2},
    {"pad of a pad", pad_of_pad, 1},
    {"edges and inside", edges_and_inside, 1},
    {"columns side by side", columns_side_by_side, 1},
    {"rows one below the other", rows_one_below_the_other, 1},
    {"pad of a cat", pad_of_cat, 1},
    {"every second of a pad", every_second_of_pad, 1},
    {"flip of a pad", flip_of_pad, 1},
    {"copy into the inside", copy_into_inside, 1},
    {"sum of a pad", sum_of_pad, 1},
};

enum { SCENES = sizeof scenes / sizeof scenes[0] };

// ---- running them ----

// [h, w] of 0 and 1, in another order for each seed.
static both border_image(tc_ctx *tc, const char *device, int64_t h, int64_t w, int dtype,
                         unsigned seed) {
    both b = border_new(tc_null(), h, w);
    for (int64_t i = 0; i < h * w; i++) b.v[i] = (double)(test_word((unsigned)i, seed) % 2);
    tc_tensor t = tc_from_data(tc, b.v, TC_DIMS(h, w), TC_F64);
    b.t = tc_to(tc_cast(t, (tc_dtype)dtype), device);
    return b;
}

static void border_check(const both *s, const char *name, const char *what) {
    size_t n = (size_t)(s->h * s->w);
    double *got = (double *)calloc(n + 1, sizeof *got);
    tc_tensor back = tc_cast(tc_to(s->t, "cpu"), TC_F64);
    CHECK_EQ(tc_read(back, got, n * sizeof *got), TC_OK);
    for (size_t i = 0; i < n; i++) {
        if (got[i] == s->v[i]) continue;
        FAIL("%s, %s: row %d, column %d is %g, not %g", name, what,
             (int)((int64_t)i / s->w), (int)((int64_t)i % s->w), got[i], s->v[i]);
        break;
    }
    free(got);
}

// All scenes of one image in one region, so that one compilation has them all.
static void border_visit(tc_ctx *tc, const char *region, const char *device, int64_t h,
                         int64_t w, int dtype, int64_t border) {
    both result[SCENES];
    char what[120];
    snprintf(what, sizeof what, "%d x %d, dtype %d, border %d", (int)h, (int)w, dtype,
             (int)border);
    tc_scope_begin(tc);
    both x = border_image(tc, device, h, w, dtype, (unsigned)(h * 131 + w));
    tc_trace_begin_at(tc, region, NULL, "border.h", 1);
    for (int i = 0; i < (int)SCENES; i++) {
        if (h < 2 * border + scenes[i].least || w < 2 * border + scenes[i].least) continue;
        result[i] = scenes[i].run(x, border);
        result[i].t = tc_keep(result[i].t);
    }
    CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s: %s", what, tc_error_text(tc)));
    for (int i = 0; i < (int)SCENES; i++) {
        if (h < 2 * border + scenes[i].least || w < 2 * border + scenes[i].least) continue;
        border_check(&result[i], scenes[i].name, what);
        tc_free(result[i].t);
    }
    tc_scope_end(tc);
    border_free();
}

#endif
