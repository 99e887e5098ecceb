// A cache that is written in place and then read by what reshapes: how many programs a loop over it makes, whether
// or not it is written, and that a reshape is a view for just the sizes that it is one for eagerly. Values come
// from plain C in double.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

#include <math.h>

enum { MOST = 12, D = 8, H = 2, GROUP = 3, USES = 19 };

// Row r of head h.
static double cached(int h, int r, int e) { return (r * 5 + h * 4 + e * 3) % 7 - 3; }
static double query(int h, int e) { return (h * 3 + e) % 5 - 2; }
static double weight(int e, int f) { return (e + 2 * f) % 3 - 1; }

static tc_tensor tensor_of(tc_ctx *tc, double (*at)(int, int), int n, int m, tc_dims d) {
    float f[64];
    for (int i = 0; i < n * m; i++) f[i] = (float)at(i / m, i % m);
    return tc_from_data(tc, f, d, TC_F32);
}

typedef struct inputs {
    tc_tensor cache, q, w; // [1,H,MOST,D], [1,H,1,D], [D,D]
    tc_tensor factor;      // [GROUP,1,1]: of q's heads that share keys and values
} inputs;

static tc_tensor repeated(tc_tensor p) {
    return tc_expand(tc_unsqueeze(p, 2), TC_DIMS(-1, -1, GROUP, -1, -1));
}

static tc_tensor attended(const inputs *in, tc_tensor p) {
    tc_tensor q = tc_mul(tc_reshape(in->q, TC_DIMS(1, H, 1, 1, D)), in->factor);
    tc_tensor k = tc_unsqueeze(p, 2);
    return tc_scaled_dot_product_attention(q, k, k, tc_null(), 0, 0);
}

// What uses the rows so far.
static tc_tensor used(const inputs *in, int use, tc_tensor p) {
    tc_tensor twice[2] = {p, p};
    switch (use) {
    case 0: return tc_repeat_interleave(p, GROUP, 1);
    case 1: return tc_tile(p, TC_DIMS(1, GROUP, 1, 1));
    case 2: return tc_cat(twice, 2, 1);
    case 3: return tc_contiguous(p);
    case 4: return tc_clone(p);
    case 5: return tc_transpose(p, 2, 3);
    case 6: return tc_softmax(tc_matmul(in->q, tc_transpose(p, 2, 3)), -1);
    case 7: return tc_cumsum(p, 2);
    case 8: return tc_reshape(tc_transpose(p, 1, 2), TC_DIMS(-1, D * H));
    case 9: return attended(in, p);
    case 10: return tc_mean(p, 2);
    case 11: return tc_scaled_dot_product_attention(in->q, p, p, tc_null(), 0, 0);
    case 12: return tc_to_f64(p);
    case 13: return tc_pad(p, TC_DIMS(0, 0, 0, 0), TC_DIMS(0, 0, 1, 0), 0);
    case 14: return tc_amax(tc_flip(p, TC_DIMS(2)), 3);
    case 15:
        return tc_add(tc_repeat_interleave(p, GROUP, 2), tc_repeat_interleave(p, GROUP, 2));
    case 16: return repeated(p);
    case 17: return tc_reshape(repeated(p), TC_DIMS(1, GROUP * H, -1, D));
    default: return tc_matmul(p, in->w);
    }
}

static double scored(int h, int r) {
    double sum = 0;
    for (int e = 0; e < D; e++) sum += query(h, e) * cached(h, r, e);
    return sum;
}

// softmax(scale * scores) of s rows, row r.
static double share(int h, int r, int s, double scale) {
    double sum = 0;
    for (int i = 0; i < s; i++) sum += exp(scale * (scored(h, i) - scored(h, r)));
    return 1 / sum;
}

static double attention_of(int h, int e, int s, int factor) {
    double sum = 0;
    for (int r = 0; r < s; r++) sum += share(h, r, s, factor / sqrt(D)) * cached(h, r, e);
    return sum;
}

// Element i of the same, of s rows.
static double wanted(int use, int i, int s) {
    int e = i % D, r = i / D % s, h = i / D / s; // of [.., s, D]
    double sum = 0;
    switch (use) {
    case 0:
    case 16:
    case 17: return cached(h / GROUP, r, e);
    case 1:
    case 2: return cached(h % H, r, e);
    case 5: return cached(i / s / D, i % s, i / s % D);
    case 6: return share(i / s, i % s, s, 1);
    case 7:
        for (int k = 0; k <= r; k++) sum += cached(h, k, e);
        return sum;
    case 8: return cached(i / D % H, i / D / H, e);
    case 9: return attention_of(i / D / GROUP, e, s, 1 + i / D % GROUP);
    case 11: return attention_of(i / D, e, s, 1);
    case 10:
        for (int k = 0; k < s; k++) sum += cached(i / D, k, e);
        return sum / s;
    case 13: return i / D % (s + 1) == s ? 0 : cached(i / D / (s + 1), i / D % (s + 1), e);
    case 14:
        sum = -9;
        for (int k = 0; k < D; k++) sum = fmax(sum, cached(i / s, s - 1 - i % s, k));
        return sum;
    case 15: return 2 * cached(h / GROUP, i / D / GROUP % s, e);
    case 18:
        for (int k = 0; k < D; k++) sum += cached(h, r, k) * weight(k, e);
        return sum;
    default: return cached(h, r, e);
    }
}

static int is_exact(int use) { return use != 6 && use != 9 && use != 10 && use != 11; }

static void check_use(int use, tc_tensor got, int s) {
    static const int each[USES] = {GROUP * H * D,
                                   GROUP * H * D,
                                   2 * H * D,
                                   H * D,
                                   H * D,
                                   H * D,
                                   H,
                                   H * D,
                                   H * D,
                                   0,
                                   0,
                                   0,
                                   H * D,
                                   H * D,
                                   H,
                                   GROUP * H * D,
                                   GROUP * H * D,
                                   GROUP * H * D,
                                   H * D};
    int one = use == 9 ? GROUP * H * D : use == 13 || !each[use] ? H * D : 0;
    int n = each[use] * s + one;
    float x[GROUP * H * D * MOST];
    tc_tensor f = tc_to_f32(got);
    CHECK_EQ(tc_numel(got), n);
    CHECK_EQ(tc_read(f, x, sizeof *x * (size_t)n), TC_OK);
    for (int i = 0; i < n; i++) {
        double want = wanted(use, i, s), is = (double)x[i];
        if (!(fabs(is - want) <= (is_exact(use) ? 0 : 1e-6 * (1 + fabs(want)))))
            FAIL("use %d of %d rows, %d: %.9g, not %.9g", use, s, i, is, want);
    }
    if (f.id != got.id) tc_free(f);
}

// The loop with one use; how many programs it makes.
static int loop(tc_ctx *tc, const inputs *in, int use, int writes) {
    char name[40];
    snprintf(name, sizeof name, "use %d, %s", use, writes ? "written" : "read");
    for (int n = 0; n < MOST; n++) {
        float row[H * D];
        for (int i = 0; i < H * D; i++) row[i] = (float)cached(i / D, n, i % D) - 1;
        tc_tensor k = tc_from_data(tc, row, TC_DIMS(1, H, 1, D), TC_F32), y;
        if (!writes) tc_copy_(tc_narrow(in->cache, 2, n, 1), tc_add_s(k, 1));
        BEGIN(name);
        if (writes) tc_copy_(tc_narrow(in->cache, 2, n, 1), tc_add_s(k, 1));
        y = tc_keep(used(in, use, tc_narrow(in->cache, 2, 0, n + 1)));
        END();
        check_use(use, y, n + 1);
        tc_free(y), tc_free(k);
    }
    return tc_explain_counts(tc, name).programs;
}

// One token more has no program more: the first one's, one for all, and where an op does nothing for the last
// row, or for a row alone, that one's.
BOTH(a_cache_that_is_written_makes_no_program_per_token) {
    inputs in;
    in.cache = tc_zeros(tc, TC_DIMS(1, H, MOST, D), TC_F32);
    in.q = tensor_of(tc, query, H, D, TC_DIMS(1, H, 1, D));
    in.factor = tc_reshape(line(tc, GROUP, 1, 1), TC_DIMS(GROUP, 1, 1));
    in.w = tensor_of(tc, weight, D, D, TC_DIMS(D, D));
    for (int use = 0; use < USES; use++) {
        int most = use == 3 || use == 14 || use == 15 ? 3 : 2;
        for (int writes = 0; writes < 2; writes++) {
            int n = loop(tc, &in, use, writes);
            if (n > most) FAIL("use %d, writes %d: %d programs", use, writes, n);
            tc_fill_(in.cache, 55);
        }
    }
}

// ---- a reshape that is a view for one size, and a copy for the others ----

enum { ROWS = 4, COLUMNS = 6 };

typedef enum when { BEHIND, ACROSS, INSIDE, BASE, WHENS } when; // a write

// y = x[:, :n] in one row, and a write: of y behind the region, behind a break, inside; or of x inside.
static void write_then(tc_ctx *tc, int n, when at) {
    static const char *const name[] = {"behind", "across", "inside", "base"};
    int view = n == COLUMNS || n == 1; // one run, or one element of each
    tc_tensor x = tc_zeros(tc, TC_DIMS(ROWS, COLUMNS), TC_F32), sum;
    BEGIN(name[at]);
    tc_tensor y = tc_reshape(tc_narrow(x, 1, 0, n), TC_DIMS(-1));
    if (at == ACROSS) CHECK_EQ(AT(tc_add_s(y, 3), 1), 3.0);
    if (at == INSIDE || at == ACROSS) tc_copy_(y, tc_add_s(y, 5));
    if (at == BASE) tc_copy_(x, tc_add_s(x, 5));
    tc_keep(y), sum = tc_keep(tc_sum_all(y));
    END();
    if (at == BEHIND) tc_fill_(y, 5);
    CHECK_EQ(AT(x, 0), view || at == BASE ? 5.0 : 0.0);
    CHECK_EQ(AT(x, (ROWS - 1) * COLUMNS), view || at == BASE ? 5.0 : 0.0);
    CHECK_EQ(AT(y, ROWS * n - 1), at == BASE && !view ? 0.0 : 5.0);
    CHECK_EQ(AT(sum, 0), at == BEHIND || (at == BASE && !view) ? 0.0 : 5.0 * ROWS * n);
    tc_free(x), tc_free(sum);
}

BOTH(a_copy_for_other_sizes_is_a_view_where_it_can_be) {
    static const int n[] = {3, 4, 5, COLUMNS, 2, COLUMNS, 3, 1};
    for (int at = 0; at < WHENS; at++)
        for (int i = 0; i < 8; i++) write_then(tc, n[i], (when)at);
    CHECK(tc_explain_counts(tc, "inside").programs <= 4); // of 3, of all others, two views
}

// The sizes of the result never change, what stands between them in memory does.
BOTH(rows_of_three_are_one_run_where_there_are_no_more) {
    for (int m = 6; m >= 3; m--) {
        tc_tensor x = tc_zeros(tc, TC_DIMS(ROWS, m), TC_F32);
        BEGIN("threes");
        tc_tensor y = tc_keep(tc_reshape(tc_narrow(x, 1, 0, 3), TC_DIMS(3 * ROWS)));
        END();
        tc_fill_(y, 5);
        CHECK_EQ(AT(x, 0), m == 3 ? 5.0 : 0.0);
        tc_free(x);
    }
}

// One run of memory is cut anywhere: [2,6] as [3,4], behind a size that is not in the run.
BOTH(a_run_is_cut_where_its_sizes_are_not) {
    tc_tensor x = tc_zeros(tc, TC_DIMS(5, 3, 6), TC_F32);
    tc_fill_(tc_reshape(tc_narrow(x, 1, 0, 2), TC_DIMS(5, 3, 4)), 1);
    CHECK_EQ(AT(tc_sum_all(x), 0), 60.0);
    for (int n = 2; n < 6; n++) {
        BEGIN("runs");
        tc_tensor y =
            tc_reshape(tc_narrow(tc_narrow(x, 0, 0, n), 1, 0, 2), TC_DIMS(n, 4, 3));
        tc_copy_(y, tc_add_s(y, 1));
        END();
        CHECK_EQ(AT(tc_sum_all(x), 0), 60.0 + 12 * (2 + n) * (n - 1) / 2);
    }
    CHECK_EQ(tc_explain_counts(tc, "runs").programs, 2);
}
