// Gradients of loops and branches, in double: each as a loop of the graph and as the same calls one after the other, which
// have to agree; orders, jvp, vjp, backward; and programs that serve any number of rows, turns and both branches.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { ROWS = 4, BATCH = 3, WIDE = 3, MOST = 8 };

#define BODY(name)                                                                         \
    static void name(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user)
#define UNUSED ((void)tc, (void)in, (void)user)
#define T      ((const tc_tensor *)user) // what a case is derived by

static tc_tensor doubles(tc_ctx *tc, tc_dims d, unsigned seed) {
    double p[1024];
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    for (int64_t i = 0; i < n; i++) p[i] = test_number((unsigned)i, seed);
    return tc_from_data(tc, p, d, TC_F64);
}

// ---- loops without a loop ----

typedef tc_status (*scan_of)(tc_body body, void *user, const tc_tensor *init, int n_carry,
                             const tc_tensor *xs, int n_xs, tc_tensor *last, tc_tensor *ys,
                             int n_ys);

static tc_ctx *current;

static tc_status looped(tc_body body, void *user, const tc_tensor *init, int n_carry,
                        const tc_tensor *xs, int n_xs, tc_tensor *last, tc_tensor *ys,
                        int n_ys) {
    return tc_scan(body, user, init, n_carry, xs, n_xs, last, ys, n_ys);
}

static tc_status unrolled(tc_body body, void *user, const tc_tensor *init, int n_carry,
                          const tc_tensor *xs, int n_xs, tc_tensor *last, tc_tensor *ys,
                          int n_ys) {
    tc_tensor in[2 * MOST], out[2 * MOST], row[MOST][64];
    int rows = (int)tc_dim(xs[0], 0);
    for (int i = 0; i < n_carry; i++) in[i] = init[i];
    for (int t = 0; t < rows; t++) {
        for (int i = 0; i < n_xs; i++) in[n_carry + i] = tc_select(xs[i], 0, t);
        body(current, in, out, user);
        for (int i = 0; i < n_carry; i++) in[i] = out[i];
        for (int i = 0; i < n_ys; i++) row[i][t] = out[n_carry + i];
    }
    for (int i = 0; i < n_carry; i++) last[i] = in[i];
    for (int i = 0; i < n_ys; i++) ys[i] = tc_stack(row[i], rows, 0);
    return TC_OK;
}

// The value of a case, of tensors t[]; what it is derived by.
typedef tc_tensor (*case_of)(tc_tensor *t, scan_of scan);

// 0: h [BATCH, WIDE], 1: x [ROWS, BATCH, WIDE], 2: w [WIDE, WIDE], 3: b [WIDE], 4: more rows, 5: number
enum { GIVEN = 6 };

static void give(tc_ctx *tc, tc_tensor *t) {
    t[0] = doubles(tc, TC_DIMS(BATCH, WIDE), 1);
    t[1] = doubles(tc, TC_DIMS(ROWS, BATCH, WIDE), 2);
    t[2] = doubles(tc, TC_DIMS(WIDE, WIDE), 3);
    t[3] = doubles(tc, TC_DIMS(WIDE), 4);
    t[4] = doubles(tc, TC_DIMS(ROWS, BATCH, WIDE), 5);
    t[5] = tc_scalar(tc, 0.75, TC_F64);
}

// Gradients by the tensors whose bit is in `by`, of an order: the sum of the squares of those before.
static int derive(tc_ctx *tc, case_of f, scan_of scan, unsigned by, int order,
                  double got[][64], tc_tensor *value) {
    tc_tensor t[GIVEN], wrt[GIVEN], g[GIVEN];
    int n = 0;
    current = tc;
    give(tc, t);
    BEGIN(scan == looped ? "loop" : "unrolled");
    for (int i = 0; i < GIVEN; i++)
        if (by >> i & 1) wrt[n++] = t[i];
    tc_tensor loss = *value = f(t, scan);
    for (int k = 0; k < order; k++) {
        tc_grad(loss, wrt, n, g);
        for (int i = 0; i < n; i++) {
            tc_tensor square = tc_sum_all(tc_mul(g[i], g[i]));
            loss = i ? tc_add(loss, square) : square;
        }
    }
    END();
    for (int i = 0; i < n; i++)
        CHECK_EQ(tc_read(g[i], got[i], (size_t)tc_numel(g[i]) * sizeof **got), TC_OK);
    return n;
}

// The calls one after the other are interpreted, which has the bits of compiled code: what is asked is the loop.
static void check_case(tc_ctx *tc, case_of f, unsigned by, int orders) {
    tc_ctx *plain = open_backend("aot_eager");
    for (int order = 1; order <= orders; order++) {
        double a[GIVEN][64], b[GIVEN][64], x = 0, y = 0;
        tc_tensor value;
        memset(a, 0, sizeof a), memset(b, 0, sizeof b);
        int n = derive(plain, f, unrolled, by, order, a, &value);
        tc_read(value, &x, sizeof x);
        derive(tc, f, looped, by, order, b, &value);
        tc_read(value, &y, sizeof y);
        CHECK_NEAR(x, y, 1e-12 * fabs(x));
        for (int i = 0; i < n; i++) {
            double scale = 0;
            for (int k = 0; k < 64; k++) scale = fmax(scale, fabs(a[i][k]));
            CHECK(scale > 0 || order > 1);
            for (int k = 0; k < 64; k++)
                if (!(fabs(a[i][k] - b[i][k]) <= 1e-12 * scale))
                    FAIL("order %d, by %d of %x, element %d: %.17g, not %.17g", order, i,
                         by, k, b[i][k], a[i][k]);
        }
    }
    if (tc_error(plain)) FAIL("%s", tc_error_text(plain));
    tc_close(plain);
}

#define CASE(name, by, orders)                                                             \
    static tc_tensor case_##name(tc_tensor *t, scan_of scan);                              \
    BOTH(name) { check_case(tc, case_##name, by, orders); }                                \
    static tc_tensor case_##name(tc_tensor *t, scan_of scan)

static tc_tensor squares(tc_tensor a) { return tc_sum_all(tc_mul(a, a)); }

// ---- bodies ----

BODY(running_product) {
    UNUSED;
    out[0] = out[1] = tc_add(tc_mul(in[0], in[1]), in[0]);
}

BODY(rnn) {
    UNUSED;
    out[0] = out[1] = tc_tanh(tc_add(tc_add(tc_matmul(in[0], T[2]), in[1]), T[3]));
}

BODY(from_the_left) {
    UNUSED;
    out[0] = out[1] = tc_tanh(tc_matmul(T[2], tc_add(in[0], in[1])));
}

BODY(batched) { // [BATCH, WIDE, WIDE] of rows and of the outside, on both sides
    UNUSED;
    tc_tensor w = tc_mul_s(tc_slice(T[1], 0, 0, BATCH, 1), 0.5);
    tc_tensor h = tc_unsqueeze(tc_add(in[0], in[1]), 1);
    tc_tensor right = tc_squeeze(tc_bmm(h, w), 1);
    tc_tensor left = tc_squeeze(tc_bmm(w, tc_transpose(h, 1, 2)), 2);
    out[0] = out[1] = tc_tanh(tc_add(right, left));
}

BODY(elementwise) {
    UNUSED;
    out[0] = tc_mul(tc_sin(tc_mul(in[0], T[0])), tc_add(in[1], T[3]));
    out[1] = tc_mul(out[0], T[5]);
}

BODY(two_carries) {
    UNUSED;
    out[0] = tc_add(in[1], tc_mul(in[0], in[2])), out[1] = tc_sin(in[0]);
    out[2] = tc_mul(in[1], in[2]);
}

BODY(attends) { // reductions
    UNUSED;
    tc_tensor p = tc_softmax(tc_add(in[0], in[1]), -1);
    out[0] = tc_layer_norm(tc_add(p, in[1]), T[3], tc_null(), 1e-3);
    out[1] = tc_logsumexp(tc_matmul(out[0], T[2]), 1);
}

BODY(
    rows_of_products) { // of the outside alone, sorted: the second derivative reads rows of what the first one stacked
    UNUSED;
    tc_tensor a = tc_mul(in[1], in[1]), sorted, index;
    a = tc_matmul(tc_matmul(a, tc_t(T[2])), T[2]);
    tc_sort(a, 1, 0, &sorted, &index);
    out[0] = in[0], out[1] = tc_cumsum(tc_relu(tc_mul(sorted, a)), 1);
}

BODY(scans_rows) { // opaque ops
    UNUSED;
    tc_tensor sorted, index;
    tc_sort(in[1], 1, 0, &sorted, &index);
    out[0] = tc_tanh(tc_add(in[0], tc_cumsum(tc_mul(sorted, in[1]), 1)));
    out[1] = tc_gather(out[0], 1, index);
}

BODY(writes) {
    UNUSED;
    tc_tensor a = tc_mul_s(in[0], 0.5);
    tc_mul_(a, in[1]);
    tc_add_(tc_slice(a, 1, 0, 2, 1), tc_slice(in[0], 1, 1, 3, 1));
    out[0] = out[1] = a;
}

BODY(whole_rows_of_outside) { // each turn uses all of x
    UNUSED;
    out[0] = tc_tanh(tc_add(tc_mul(in[0], in[1]), tc_mean(T[4], 0)));
    out[1] = tc_sum_all(tc_mul(out[0], T[4]));
}

BODY(partly_detached) {
    UNUSED;
    out[0] = tc_mul(tc_sin(in[0]), tc_detach(tc_mul(in[0], in[1])));
    tc_no_grad_begin(tc);
    tc_tensor stopped = tc_mul(in[1], in[1]);
    tc_no_grad_end(tc);
    out[1] = tc_mul(stopped, in[0]);
}

// ---- cases ----

static tc_tensor both_of(tc_body body, tc_tensor *t, scan_of scan) {
    tc_tensor last, ys;
    scan(body, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    return tc_add(squares(last), tc_sum_all(tc_sin(ys)));
}

static tc_tensor last_of(tc_body body, tc_tensor *t, scan_of scan) {
    tc_tensor last, ys;
    scan(body, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    return squares(last);
}

static tc_tensor ys_of(tc_body body, tc_tensor *t, scan_of scan) {
    tc_tensor last, ys;
    scan(body, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    return squares(ys);
}

CASE(products_of_carries, 3, 3) { return both_of(running_product, t, scan); }
CASE(through_last, 3, 2) { return last_of(running_product, t, scan); }
CASE(through_ys, 3, 2) { return ys_of(running_product, t, scan); }
CASE(by_init_alone, 1, 2) { return both_of(running_product, t, scan); }
CASE(by_xs_alone, 2, 2) { return both_of(running_product, t, scan); }
CASE(cells, 15, 3) { return both_of(rnn, t, scan); }
CASE(by_weights_alone, 4, 2) { return last_of(rnn, t, scan); }
CASE(by_bias_alone, 8, 2) { return ys_of(rnn, t, scan); }
CASE(factors_on_the_left, 7, 2) { return both_of(from_the_left, t, scan); }
CASE(batched_products, 3, 2) { return both_of(batched, t, scan); }
CASE(elementwise_captured, 43, 2) { return both_of(elementwise, t, scan); }
CASE(reductions, 15, 2) { return both_of(attends, t, scan); }
CASE(products_of_rows, 6, 2) { return both_of(rows_of_products, t, scan); }
CASE(opaque_ops, 3, 1) { return both_of(scans_rows, t, scan); }
CASE(writes_in_place, 3, 2) { return both_of(writes, t, scan); }
CASE(all_rows_in_each_turn, 19, 2) { return both_of(whole_rows_of_outside, t, scan); }
CASE(detached_in_a_body, 1, 2) { return both_of(partly_detached, t, scan); }

CASE(one_of_two_carries, 19, 2) {
    tc_tensor init[2], last[2], ys;
    init[0] = t[0], init[1] = tc_select(t[4], 0, 1);
    scan(two_carries, t, init, 2, &t[1], 1, last, &ys, 1);
    return squares(last[1]);
}

CASE(of_two_carries_by_ys, 19, 2) {
    tc_tensor init[2], last[2], ys;
    init[0] = t[0], init[1] = tc_select(t[4], 0, 1);
    scan(two_carries, t, init, 2, &t[1], 1, last, &ys, 1);
    return squares(ys);
}

BODY(forgets) { // what it carries is not read
    UNUSED;
    out[0] = tc_sin(tc_mul(in[1], T[3])), out[1] = tc_mul(in[1], in[1]);
}

CASE(carries_that_are_not_read, 10, 2) { return last_of(forgets, t, scan); }

BODY(rows_alone) {
    UNUSED;
    out[0] = tc_tanh(tc_matmul(tc_mul(in[0], in[1]), T[2]));
}

CASE(without_carries, 22, 2) {
    tc_tensor ys, xs[2];
    xs[0] = t[1], xs[1] = t[4];
    scan(rows_alone, t, NULL, 0, xs, 2, NULL, &ys, 1);
    return squares(ys);
}

CASE(rows_computed_and_results_used, 31, 2) {
    tc_tensor last, ys, x = tc_tanh(tc_matmul(tc_add(t[1], t[4]), t[2]));
    tc_tensor h = tc_mul(t[0], t[3]);
    scan(rnn, t, &h, 1, &x, 1, &last, &ys, 1);
    return tc_add(squares(tc_matmul(ys, t[2])), tc_sum_all(tc_mul(last, t[0])));
}

CASE(one_loop_behind_another, 15, 2) {
    tc_tensor last[2], ys[2];
    scan(rnn, t, &t[0], 1, &t[1], 1, &last[0], &ys[0], 1);
    tc_tensor back = tc_flip(ys[0], TC_DIMS(0));
    scan(running_product, t, &last[0], 1, &back, 1, &last[1], &ys[1], 1);
    return tc_add(squares(ys[1]), tc_sum_all(last[1]));
}

CASE(two_loops_of_one_producer, 31, 2) {
    tc_tensor last[2], ys[2], x = tc_matmul(t[1], t[2]);
    scan(rnn, t, &t[0], 1, &x, 1, &last[0], &ys[0], 1);
    scan(elementwise, t, &t[0], 1, &x, 1, &last[1], &ys[1], 1);
    return tc_add(squares(tc_add(last[0], last[1])),
                  tc_sum_all(tc_mul(tc_mul(ys[0], ys[1]), t[4])));
}

CASE(strided_rows, 7, 2) {
    tc_tensor last, ys, x = tc_slice(tc_transpose(t[1], 0, 1), 0, 0, TC_END, 2);
    tc_tensor h = tc_cat(&t[0], 1, 0), four[2];
    four[0] = h, four[1] = tc_slice(t[0], 0, 0, 1, 1);
    h = tc_cat(four, 2, 0); // [ROWS, WIDE]
    scan(running_product, t, &h, 1, &x, 1, &last, &ys, 1);
    return tc_add(squares(tc_matmul(last, t[2])), squares(ys));
}

// ---- branches ----

BODY(yes) {
    UNUSED;
    out[0] = tc_tanh(tc_matmul(in[0], T[2])), out[1] = tc_mul(in[0], T[3]);
}

BODY(no) {
    UNUSED;
    out[0] = tc_mul(in[0], in[1]), out[1] = tc_mul(tc_mul(in[1], in[1]), T[5]);
}

// A branch that is taken by the host.
static tc_tensor chosen(tc_tensor *t, scan_of scan, int is) {
    tc_tensor in[2], out[2], p = tc_full(current, TC_DIMS(1), is, TC_BOOL);
    in[0] = t[0], in[1] = tc_select(t[4], 0, 0);
    if (scan == looped)
        tc_cond(p, yes, no, t, in, 2, out, 2);
    else
        (is ? yes : no)(current, in, out, t);
    return tc_add(squares(out[0]), tc_sum_all(tc_mul(out[1], tc_sin(out[0]))));
}

CASE(a_branch_that_is_taken, 13, 3) { return chosen(t, scan, 1); }
CASE(a_branch_that_is_not, 49, 3) { return chosen(t, scan, 0); }

static double slope_of_branch(tc_ctx *tc, int is, double *other) {
    tc_tensor t[GIVEN], wrt[2], g[2], in[2], out[2];
    double got[BATCH * WIDE];
    give(tc, t);
    tc_tensor p = tc_full(tc, TC_DIMS(1), is, TC_I64);
    BEGIN("either");
    in[0] = t[0], in[1] = tc_select(t[4], 0, 0);
    tc_cond(p, yes, no, t, in, 2, out, 2);
    wrt[0] = t[3], wrt[1] = t[5];
    tc_grad(tc_sum_all(out[1]), wrt, 2, g);
    END();
    tc_read(g[0], got, WIDE * sizeof *got);
    tc_read(g[1], other, sizeof *other);
    return got[0];
}

BOTH(predicates_change_in_one_program) {
    double of_bias = 0, of_number = 0;
    for (int i = 0; i < BATCH; i++) of_bias += test_number((unsigned)(i * WIDE), 1);
    for (int i = 0; i < BATCH * WIDE; i++) of_number += pow(test_number((unsigned)i, 5), 2);
    for (int visit = 0; visit < 6; visit++) {
        double other, slope = slope_of_branch(tc, visit % 2, &other);
        CHECK_NEAR(slope, visit % 2 ? of_bias : 0, 1e-12);
        CHECK_NEAR(other, visit % 2 ? 0 : of_number, 1e-12);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

// ---- loops that ask ----

BODY(below_five) { UNUSED, out[0] = tc_lt_s(tc_sum_all(in[0]), 5); }

BODY(power) { UNUSED, out[0] = tc_mul(in[0], T[5]); }

// y = x f^n, where n is the number of turns; by x and f, and their second derivative.
BOTH(turns_change_in_one_program) {
    static const double from[] = {3, 0.5, 7, 4.99, 1};
    static const int turns[] = {1, 4, 0, 1, 3};
    for (int visit = 0; visit < 5; visit++) {
        tc_tensor t[GIVEN], x, y, g[2], wrt[2], h;
        double f = 2, got[2], second;
        int n = turns[visit];
        memset(t, 0, sizeof t);
        t[5] = tc_full(tc, TC_DIMS(1), f, TC_F64);
        x = tc_full(tc, TC_DIMS(1), from[visit], TC_F64);
        BEGIN("turns");
        tc_while(below_five, power, t, &x, 1, 10, &y);
        wrt[0] = x, wrt[1] = t[5];
        tc_grad(tc_sum_all(y), wrt, 2, g);
        tc_grad(tc_sum_all(g[1]), &wrt[1], 1, &h);
        END();
        tc_read(g[0], &got[0], 8), tc_read(g[1], &got[1], 8), tc_read(h, &second, 8);
        CHECK_NEAR(got[0], pow(f, n), 1e-12);
        CHECK_NEAR(got[1], from[visit] * n * pow(f, n - 1), 1e-12);
        CHECK_NEAR(second, from[visit] * n * (n - 1) * pow(f, n - 2), 1e-12);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

// ---- any number of rows ----

BODY(scaled) { UNUSED, out[0] = out[1] = tc_add(tc_mul(in[0], T[5]), in[1]); }

// last = sum of x[k] f^(n - 1 - k)
BOTH(rows_and_batch_change_without_programs) {
    for (int visit = 0; visit < 10; visit++) {
        int rows = 1 + visit * 3 % 7, batch = 2 + visit % 3;
        double data[64], got[64], of_f, f = 0.5, want = 0;
        tc_tensor t[GIVEN], wrt[2], g[2], last, ys;
        for (int i = 0; i < rows * batch; i++) data[i] = test_number((unsigned)i, 9);
        memset(t, 0, sizeof t);
        t[5] = tc_scalar(tc, f, TC_F64);
        tc_tensor x = tc_from_data(tc, data, TC_DIMS(rows, batch), TC_F64);
        tc_tensor init = tc_zeros(tc, TC_DIMS(batch), TC_F64);
        BEGIN("rows");
        tc_scan(scaled, t, &init, 1, &x, 1, &last, &ys, 1);
        wrt[0] = x, wrt[1] = t[5];
        tc_grad(tc_sum_all(last), wrt, 2, g);
        END();
        tc_read(g[0], got, (size_t)(rows * batch) * sizeof *got);
        tc_read(g[1], &of_f, sizeof of_f);
        for (int k = 0; k < rows; k++)
            for (int i = 0; i < batch; i++) {
                int n = rows - 1 - k;
                CHECK_NEAR(got[k * batch + i], pow(f, n), 1e-14);
                want += n ? data[k * batch + i] * n * pow(f, n - 1) : 0;
            }
        CHECK_NEAR(of_f, want, 1e-12);
    }
    CHECK(tc_stats_get(tc).programs <= 4);
}

BOTH(no_rows) {
    tc_tensor t[GIVEN], wrt[2], g[2], last, ys;
    double got[BATCH * WIDE];
    give(tc, t);
    tc_tensor x = tc_zeros(tc, TC_DIMS(0, BATCH, WIDE), TC_F64);
    BEGIN("none");
    tc_scan(rnn, t, &t[0], 1, &x, 1, &last, &ys, 1);
    wrt[0] = t[0], wrt[1] = t[2];
    tc_grad(tc_add(tc_sum_all(last), tc_sum_all(ys)), wrt, 2, g);
    END();
    tc_read(g[0], got, sizeof got);
    for (int i = 0; i < BATCH * WIDE; i++) CHECK_NEAR(got[i], 1, 0);
    tc_read(g[1], got, sizeof got);
    for (int i = 0; i < WIDE * WIDE; i++) CHECK_NEAR(got[i], 0, 0);
}

// ---- jvp, vjp, backward ----

static void products_of(tc_ctx *tc, scan_of scan, double *jvp, double *vjp) {
    tc_tensor t[GIVEN], wrt[2], with[2], last, ys, j, v[2];
    current = tc;
    give(tc, t);
    wrt[0] = t[2], wrt[1] = t[1];
    with[0] = doubles(tc, TC_DIMS(WIDE, WIDE), 20), with[1] = t[4];
    BEGIN(scan == looped ? "loop" : "unrolled");
    scan(rnn, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    tc_jvp(ys, wrt, with, 2, &j);
    tc_vjp(ys, t[4], wrt, 2, v);
    END();
    tc_read(j, jvp, ROWS * BATCH * WIDE * sizeof *jvp);
    tc_read(v[0], vjp, WIDE * WIDE * sizeof *vjp);
    tc_read(v[1], vjp + WIDE * WIDE, ROWS * BATCH * WIDE * sizeof *vjp);
}

BOTH(forward_mode_and_products) {
    double j[2][ROWS * BATCH * WIDE], v[2][(ROWS * BATCH + WIDE) * WIDE];
    products_of(tc, unrolled, j[0], v[0]);
    products_of(tc, looped, j[1], v[1]);
    for (int i = 0; i < ROWS * BATCH * WIDE; i++) CHECK_NEAR(j[1][i], j[0][i], 1e-12);
    for (int i = 0; i < (ROWS * BATCH + WIDE) * WIDE; i++)
        CHECK_NEAR(v[1][i], v[0][i], 1e-12);
}

static void learn(tc_ctx *tc, scan_of scan, double *w, double *b) {
    tc_tensor t[GIVEN], last, ys;
    current = tc;
    give(tc, t);
    tc_requires_grad(t[2], 1), tc_requires_grad(t[3], 1);
    for (int visit = 0; visit < 4; visit++) {
        BEGIN(scan == looped ? "loop" : "unrolled");
        tc_zero_(tc_grad_of(t[2])), tc_zero_(tc_grad_of(t[3]));
        scan(rnn, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
        tc_backward(tc_add(squares(last), squares(ys)));
        tc_sgd_(t[2], tc_grad_of(t[2]), tc_null(), 0.1, 0, 0, 0);
        tc_sgd_(t[3], tc_grad_of(t[3]), tc_null(), 0.1, 0, 0, 0);
        END();
    }
    tc_read(t[2], w, WIDE * WIDE * sizeof *w);
    tc_read(t[3], b, WIDE * sizeof *b);
}

BOTH(captured_weights_learn) {
    double w[2][WIDE * WIDE], b[2][WIDE];
    learn(tc, unrolled, w[0], b[0]);
    learn(tc, looped, w[1], b[1]);
    for (int i = 0; i < WIDE * WIDE; i++) CHECK_NEAR(w[1][i], w[0][i], 1e-12);
    for (int i = 0; i < WIDE; i++) CHECK_NEAR(b[1][i], b[0][i], 1e-12);
}

// ---- loops and branches in loops ----

static scan_of inner; // what a nested body does loops with

BODY(nested) {
    tc_tensor ys;
    UNUSED;
    inner(rnn, user, &in[0], 1, &T[1], 1, &out[0], &ys, 1);
    out[1] = tc_add(tc_sum(ys, 0), tc_mul(in[1], out[0]));
}

BODY(nested_twice) {
    tc_tensor ys, first[2];
    UNUSED;
    inner(nested, user, &in[0], 1, &T[4], 1, &first[0], &ys, 1);
    out[0] = out[1] = tc_tanh(tc_add(tc_mul_s(first[0], 0.5), in[1]));
}

BODY(branching) {
    UNUSED;
    tc_tensor give[2], a[2], b[2], p = tc_gt_s(tc_sum_all(in[1]), 0);
    give[0] = in[0], give[1] = in[1];
    if (inner == looped) {
        tc_cond(p, yes, no, user, give, 2, out, 2);
    } else {
        yes(tc, give, a, user), no(tc, give, b, user);
        for (int i = 0; i < 2; i++) out[i] = tc_where(p, a[i], b[i]);
    }
}

CASE(a_loop_in_a_loop, 0x1f, 2) {
    tc_tensor last, ys;
    inner = scan;
    scan(nested, t, &t[0], 1, &t[4], 1, &last, &ys, 1);
    return tc_add(squares(last), tc_sum_all(ys));
}

CASE(a_loop_in_a_loop_in_a_loop, 0xf, 1) {
    tc_tensor last, ys;
    inner = scan;
    scan(nested_twice, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    return tc_add(squares(last), tc_sum_all(ys));
}

CASE(a_branch_in_a_loop, 0x11, 2) {
    tc_tensor last, ys;
    inner = scan;
    scan(branching, t, &t[0], 1, &t[4], 1, &last, &ys, 1);
    return tc_add(squares(last), squares(ys));
}

// ---- what there is no gradient of ----

BOTH(no_grad_around_a_loop) {
    tc_tensor t[GIVEN], g, last, ys;
    give(tc, t);
    BEGIN("around");
    tc_no_grad_begin(tc);
    tc_scan(rnn, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    tc_no_grad_end(tc);
    tc_grad(squares(last), &t[0], 1, &g);
    CHECK_EQ(tc_trace_end(tc), TC_E_ARG);
    ERROR(TC_E_ARG, "does not depend");
}

BODY(derives) { // a gradient in a turn
    tc_tensor g, loss = tc_sum_all(tc_mul(tc_mul(in[0], in[0]), in[1]));
    UNUSED;
    tc_grad(loss, &in[0], 1, &g);
    out[0] = tc_sub(in[0], tc_mul_s(g, 0.1)), out[1] = loss;
}

// h <- h - 0.2 h x
BOTH(gradients_in_a_body) {
    tc_tensor t[GIVEN], last, ys;
    double got[BATCH * WIDE];
    give(tc, t);
    BEGIN("inside");
    tc_scan(derives, t, &t[0], 1, &t[1], 1, &last, &ys, 1);
    END();
    tc_read(last, got, sizeof got);
    for (int i = 0; i < BATCH * WIDE; i++) {
        double want = test_number((unsigned)i, 1);
        for (int k = 0; k < ROWS; k++)
            want *= 1 - 0.2 * test_number((unsigned)(k * BATCH * WIDE + i), 2);
        CHECK_NEAR(got[i], want, 1e-12);
    }
}
