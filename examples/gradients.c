// Derivatives of tensor code: the same C function gives a value where it is called outside of a region,
// and inside of one a graph that tc_grad derives, as often as one likes.
//
// Build: cc -O2 -I. examples/gradients.c -o gradients -lm -lpthread -ldl
// Prints gradients beside central differences; derivatives of tanh up to the third; a product with a
// Hessian; the rows of softmax's Jacobian by tc_vjp; a rounding that tc_detach lets gradients pass; an op of
// one's own; forces on four atoms, which then roll to the best place they have. Exit status 1 if a number is wrong.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };
#define STEP 1e-5

typedef tc_tensor (*formula)(const tc_tensor *in);

static int is_near(double a, double b) { return fabs(a - b) <= 1e-7 * (1 + fabs(b)); }

// 1 if t holds `want`.
static int holds(tc_tensor t, const double *want) {
    double got[MOST];
    size_t n = (size_t)tc_numel(t);
    int ok = n <= MOST && !tc_read(t, got, n * sizeof *got);
    for (size_t i = 0; ok && i < n; i++) ok = is_near(got[i], want[i]);
    return ok;
}

// By how much f changes with each element of in[k]: two values each, of f called eagerly.
static void differences(tc_ctx *tc, formula f, const tc_tensor in[2], int k,
                        double *slope) {
    tc_tensor moved[2] = {in[0], in[1]};
    double x[MOST];
    tc_read(in[k], x, (size_t)tc_numel(in[k]) * sizeof *x);
    moved[k] = tc_wrap(tc, x, tc_shape(in[k]), TC_F64);
    for (int64_t i = 0; i < tc_numel(in[k]); i++) {
        double at = x[i], above;
        tc_scope_begin(tc);
        x[i] = at + STEP, above = tc_item(f(moved));
        x[i] = at - STEP, slope[i] = (above - tc_item(f(moved))) / (2 * STEP);
        x[i] = at;
        tc_scope_end(tc);
    }
    tc_free(moved[k]);
}

static int print_beside(const char *name, tc_tensor t, const double *want) {
    double got[MOST];
    int n = (int)tc_numel(t), ok = holds(t, want);
    if (!ok) memset(got, 0, sizeof got);
    tc_read(t, got, (size_t)n * sizeof *got);
    for (int i = 0; i < n; i++)
        printf("    %s[%d] %12.8f %12.8f\n", i ? "     " : name, i, got[i], want[i]);
    return ok;
}

static tc_tensor vector(tc_ctx *tc, const double *x, int n) {
    return tc_from_data(tc, x, TC_DIMS(n), TC_F64);
}

// ---- first derivatives ----

// sum(exp(-a b) + sin(a) / (1 + b^2)) over all pairs of a[2, 1] and b[3].
static tc_tensor pairs(const tc_tensor *in) {
    tc_tensor wave = tc_div(tc_sin(in[0]), tc_add_s(tc_square(in[1]), 1));
    return tc_sum_all(tc_add(tc_exp(tc_neg(tc_mul(in[0], in[1]))), wave));
}

static int first(tc_ctx *tc) {
    static const double a[] = {0.5, 1.25}, b[] = {-0.75, 0.25, 2};
    double slope[MOST];
    tc_tensor in[2], g[2];
    in[0] = tc_from_data(tc, a, TC_DIMS(2, 1), TC_F64), in[1] = vector(tc, b, 3);
    tc_trace_begin(tc, "pairs");
    tc_grad(pairs(in), in, 2, g);
    tc_trace_end(tc);
    printf("a gradient, and central differences\n");
    differences(tc, pairs, in, 0, slope);
    int ok = print_beside("df/da", g[0], slope);
    differences(tc, pairs, in, 1, slope);
    return ok & print_beside("df/db", g[1], slope);
}

// ---- more of them: what tc_grad gives is computed like all else, and can be derived ----

static int higher(tc_ctx *tc) {
    static const double at[] = {-1, 0, 0.5, 2};
    double want[3][4];
    for (int i = 0; i < 4; i++) {
        double y = tanh(at[i]), d = 1 - y * y;
        want[0][i] = d, want[1][i] = -2 * y * d, want[2][i] = (6 * y * y - 2) * d;
    }
    tc_tensor x = vector(tc, at, 4), y[3];
    tc_trace_begin(tc, "tanh");
    tc_grad(tc_sum_all(tc_tanh(x)), &x, 1, &y[0]);
    tc_grad(tc_sum_all(y[0]), &x, 1, &y[1]);
    tc_grad(tc_sum_all(y[1]), &x, 1, &y[2]);
    tc_trace_end(tc);
    int ok = holds(y[0], want[0]) && holds(y[1], want[1]) && holds(y[2], want[2]);
    printf("tanh' tanh'' tanh''' at 0.5: %.6f %.6f %.6f, %d kernels\n",
           tc_get(y[0], TC_DIMS(2)), tc_get(y[1], TC_DIMS(2)), tc_get(y[2], TC_DIMS(2)),
           tc_region_kernels(tc, "tanh"));
    return ok;
}

// Rosenbrock's valley: sum over i of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2.
static tc_tensor valley(const tc_tensor *in) {
    tc_tensor low = tc_slice(in[0], 0, 0, -1, 1), high = tc_slice(in[0], 0, 1, TC_END, 1);
    tc_tensor off = tc_square(tc_sub(high, tc_square(low)));
    return tc_sum_all(tc_add(tc_mul_s(off, 100), tc_square(tc_rsub_s(low, 1))));
}

// The Hessian's product with v is the gradient of (gradient . v): no Hessian is made.
static int hessian(tc_ctx *tc) {
    static const double at[] = {-0.5, 1, 0.75}, along[] = {1, -2, 0.5};
    tc_tensor x = vector(tc, at, 3), v = vector(tc, along, 3), g, hv;
    tc_trace_begin(tc, "hessian");
    tc_grad(valley(&x), &x, 1, &g);
    tc_grad(tc_dot(g, v), &x, 1, &hv);
    tc_trace_end(tc);
    // By hand: d2/dx[i]dx[i+1] = -400 x[i]; d2/dx[i]dx[i] = 1200 x[i]^2 - 400 x[i+1] + 2, + 200 but for the first.
    double want[3], p = at[0], q = at[1], r = at[2];
    want[0] = (1200 * p * p - 400 * q + 2) * along[0] - 400 * p * along[1];
    want[1] = -400 * p * along[0] + (1200 * q * q - 400 * r + 202) * along[1] -
              400 * q * along[2];
    want[2] = -400 * q * along[1] + 200 * along[2];
    printf("a product with a Hessian, and by hand\n");
    return print_beside("H * v", hv, want);
}

// ---- y of many elements, and values that count as constants ----

static int jacobian(tc_ctx *tc) {
    static const double at[] = {0.1, 1.5, -0.75};
    double p[3], want[3];
    int ok = 1;
    tc_tensor x = vector(tc, at, 3), y, row;
    printf("softmax's Jacobian, row by row\n");
    for (int i = 0; i < 3; i++) {
        double unit[3] = {0};
        unit[i] = 1;
        tc_tensor v = vector(tc, unit, 3);
        tc_trace_begin(tc, "softmax");
        y = tc_softmax(x, 0);
        tc_vjp(y, v, &x, 1, &row);
        tc_trace_end(tc);
        tc_read(y, p, sizeof p);
        for (int k = 0; k < 3; k++) want[k] = p[i] * ((i == k) - p[k]);
        ok &= holds(row, want);
        tc_read(row, want, sizeof want);
        printf("    %9.6f %9.6f %9.6f\n", want[0], want[1], want[2]);
    }
    return ok;
}

// Rounding is flat. What it adds to x is a constant here, so that gradients pass as if it were not there.
static int straight_through(tc_ctx *tc) {
    static const double at[] = {0.4, 1.75, -2.2}, want[] = {0, 4, -4};
    tc_tensor x = vector(tc, at, 3), g;
    tc_trace_begin(tc, "rounded");
    tc_tensor rounded = tc_add(x, tc_detach(tc_sub(tc_round(x), x)));
    tc_grad(tc_sum_all(tc_square(rounded)), &x, 1, &g);
    tc_trace_end(tc);
    int ok = holds(g, want);
    printf("through a rounding: the gradient of round(x)^2 is 2 round(x): %s\n",
           ok ? "yes" : "NO");
    return ok;
}

// ---- an op of one's own, with its gradient ----

// x * |x|, whose slope is 2 |x|.
static tc_status signed_square(void *user, const tc_buffer *in, int n_in,
                               const tc_buffer *out) {
    const double *x = (const double *)in->data;
    double *y = (double *)out->data;
    (void)user, (void)n_in;
    for (int64_t i = 0; i < in->spec.dims[0]; i++) y[i] = x[i] * fabs(x[i]);
    return TC_OK;
}

static tc_status signed_square_gradient(tc_ctx *tc, void *user, const tc_tensor *in,
                                        int n_in, tc_tensor out, tc_tensor grad_out,
                                        tc_tensor *grad_in) {
    (void)tc, (void)user, (void)n_in, (void)out;
    grad_in[0] = tc_mul(grad_out, tc_mul_s(tc_abs(in[0]), 2));
    return TC_OK;
}

static int own_op(tc_ctx *tc) {
    static const double at[] = {-2, 0.5, 3}, want[] = {4, 1, 6};
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "signed_square", op.run = signed_square, op.gradient = signed_square_gradient;
    int id = tc_register_op(tc, &op);
    tc_tensor x = vector(tc, at, 3), g;
    tc_trace_begin(tc, "own");
    tc_grad(tc_sum_all(tc_custom(tc, id, &x, 1)), &x, 1, &g);
    tc_trace_end(tc);
    int ok = holds(g, want);
    printf("through an op of one's own, x * |x|: 2 |x|: %s\n", ok ? "yes" : "NO");
    return ok;
}

// ---- forces: minus the gradient of an energy ----

enum { ATOMS = 4 };

// Lennard-Jones: the sum over pairs of 4 (r^-12 - r^-6), of places x[ATOMS, 3].
static tc_tensor energy(const tc_tensor *in) {
    tc_tensor apart = tc_sub(tc_unsqueeze(in[0], 1), tc_unsqueeze(in[0], 0));
    tc_tensor square = tc_sum(tc_square(apart), -1);
    // An atom and itself: no pair, but 1 apart, as no gradient comes out of 1 / 0.
    tc_tensor self = tc_eq_s(square, 0);
    tc_tensor s = tc_pow_s(tc_masked_fill(square, self, 1), -3);
    tc_tensor pair = tc_sub(tc_square(s), s); // 0 at 1
    return tc_mul_s(tc_sum_all(pair), 2);     // each is there twice
}

static int forces(tc_ctx *tc) {
    static const double at[] = {0, 0, 0, 1.2, 0.1, 0, 0.4, 1.1, 0.1, 0.5, 0.3, 1};
    double slope[MOST], e = 0;
    tc_tensor x = tc_from_data(tc, at, TC_DIMS(ATOMS, 3), TC_F64), g;
    tc_tensor in[2] = {x, tc_null()};
    differences(tc, energy, in, 0, slope);
    for (int i = 0; i <= 300; i++) {
        tc_trace_begin(tc, "move");
        tc_tensor now = energy(&x);
        tc_grad(now, &x, 1, &g);
        tc_sub_(x, tc_mul_s(g, 0.005));
        tc_trace_end(tc);
        e = tc_item(now);
        if (i) continue;
        printf("four atoms: what the energy, %.6f, changes by with their places\n", e);
        if (!print_beside("dE/dx", g, slope)) return 0;
    }
    printf("    after 300 moves along the forces %.6f: a tetrahedron, where all six pairs "
           "have -1\n",
           e);
    return is_near(e, -6);
}

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    int ok = first(tc);
    ok &= higher(tc);
    ok &= hessian(tc);
    ok &= jacobian(tc);
    ok &= straight_through(tc);
    ok &= own_op(tc);
    ok &= forces(tc);
    ok &= !tc_error(tc);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    tc_close(tc);
    return !ok;
}
