// Derivatives: forces of a few atoms from their energy, how stiff they are in one direction, and an op of one's own with
// its gradient. Each is compared with differences.
//
// Build: cc -O2 -I. examples/gradients.c -o gradients -lpthread -ldl
// Run:   ./gradients
// Exit status 1 if something differs.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ATOMS = 5, NUMBERS = 3 * ATOMS };

static double place[NUMBERS] = {0,   0,   0,   1.1, 0.1, 0,   0.2, 1.2,
                                0.1, 1.2, 1.1, 0.3, 0.6, 0.5, 0.9};

// Lennard-Jones: sum over pairs of 4 (d^-12 - d^-6).
static tc_tensor energy(tc_ctx *tc, tc_tensor x) {
    tc_tensor apart = tc_sub(tc_unsqueeze(x, 1), tc_unsqueeze(x, 0)); // [ATOMS, ATOMS, 3]
    tc_tensor d2 = tc_sum(tc_square(apart), 2);
    tc_tensor self = tc_cast(tc_eye(tc, ATOMS, ATOMS, TC_F32), TC_BOOL);
    tc_tensor d6 =
        tc_pow_s(tc_masked_fill(d2, self, 1e9), -3); // an atom and itself are far apart
    return tc_mul_s(tc_sum_all(tc_sub(tc_square(d6), d6)), 2);
}

static double energy_at(tc_ctx *tc, tc_tensor x) {
    tc_trace_begin(tc, "energy");
    tc_tensor e = energy(tc, x);
    tc_trace_end(tc);
    return tc_item(e);
}

// What the energy changes by when number i of all places does.
static double slope(tc_ctx *tc, tc_tensor x, int i) {
    const double h = 1e-5, was = place[i];
    place[i] = was + h;
    double above = energy_at(tc, x);
    place[i] = was - h;
    double below = energy_at(tc, x);
    place[i] = was;
    return (above - below) / (2 * h);
}

// An op of one's own: x * |x|, whose slope is 2 |x|.
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

static int near(double a, double b) { return fabs(a - b) <= 1e-4 * (1 + fabs(b)); }

int main(void) {
    double force[NUMBERS], stiff[NUMBERS], above[NUMBERS], below[NUMBERS], slopes[3];
    int ok = 1;
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    tc_tensor x = tc_wrap(tc, place, TC_DIMS(ATOMS, 3), TC_F64), e, f, along;

    // Forces, and by a gradient of the gradient what they change by when the first atom moves along x.
    for (int visit = 0; visit < 3; visit++) { // there, and a bit to both sides
        place[0] += visit == 1 ? 1e-5 : visit == 2 ? -2e-5 : 0;
        tc_trace_begin(tc, "forces");
        e = energy(tc, x);
        tc_grad(e, &x, 1, &f);
        f = tc_neg(f);
        tc_tensor first = tc_select(tc_select(f, 0, 0), 0, 0);
        tc_grad(first, &x, 1, &along);
        tc_trace_end(tc);
        tc_read(f, visit == 0 ? force : visit == 1 ? above : below, sizeof force);
        if (visit == 0) tc_read(along, stiff, sizeof stiff);
    }
    place[0] += 1e-5;
    printf("energy %.6f, %d kernels for it, the forces and their changes\n",
           energy_at(tc, x), tc_region_kernels(tc, "forces"));
    for (int i = 0; i < NUMBERS; i++) {
        double by_energy = -slope(tc, x, i), by_force = (above[i] - below[i]) / 2e-5;
        ok &= near(force[i], by_energy) && near(stiff[i], by_force);
        if (i % 3 == 0)
            printf(
                "atom %d along x: force %10.5f (by differences %10.5f), its change %11.4f (%11.4f)\n",
                i / 3, force[i], by_energy, stiff[i], by_force);
    }

    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "signed_square", op.run = signed_square, op.gradient = signed_square_gradient;
    int id = tc_register_op(tc, &op);
    tc_tensor t = tc_from_data(tc, ((double[]){-2, 0.5, 3}), TC_DIMS(3), TC_F64), g;
    tc_trace_begin(tc, "own");
    tc_grad(tc_sum_all(tc_custom(tc, id, &t, 1)), &t, 1, &g);
    tc_trace_end(tc);
    if (tc_read(g, slopes, sizeof slopes)) slopes[0] = 0;
    ok &= slopes[0] == 4 && slopes[1] == 1 && slopes[2] == 6;
    printf("slopes of an op of one's own: %g %g %g\n", slopes[0], slopes[1], slopes[2]);

    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    ok &= !tc_error(tc);
    tc_close(tc);
    return !ok;
}
