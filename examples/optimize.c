// The bottom of Rosenbrock's curved valley, in 2 and in 10 dimensions: AdamW, which needs thousands of steps, and
// L-BFGS, which learns from its last steps how the valley bends. Gradients are tc_grad's, sizes of steps the host's.
//
// Build: cc -O2 -I. examples/optimize.c -o optimize -lm -lpthread -ldl
// Prints for each the steps until the gradient is small, the values of the function that it took, and how far from
// the bottom it is. Exit status 1 if AdamW's gradient is not below 1e-3 in the end, that of L-BFGS not below 1e-6, or
// either is not at the bottom.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 20000, PAIRS = 5, MOST_DIMS = 10 };

typedef struct result {
    int steps, values;
    double norm,
        off; // of the gradient; the largest distance from the bottom, which is all ones
} result;

// Sum over i of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2.
static tc_tensor valley(tc_tensor x) {
    tc_tensor low = tc_slice(x, 0, 0, -1, 1), high = tc_slice(x, 0, 1, TC_END, 1);
    tc_tensor off = tc_square(tc_sub(high, tc_square(low)));
    return tc_sum_all(tc_add(tc_mul_s(off, 100), tc_square(tc_rsub_s(low, 1))));
}

// -1.2, 1, -1.2, 1...
static tc_tensor start(tc_ctx *tc, int n) {
    double x[MOST_DIMS];
    for (int i = 0; i < n; i++) x[i] = i % 2 ? 1 : -1.2;
    return tc_from_data(tc, x, TC_DIMS(n), TC_F64);
}

static double from_bottom(tc_tensor x) {
    double at[MOST_DIMS], off = 0;
    int64_t n = tc_numel(x);
    if (tc_read(x, at, (size_t)n * sizeof *at)) return HUGE_VAL;
    for (int64_t i = 0; i < n; i++) off = fmax(off, fabs(at[i] - 1));
    return off;
}

// ---- AdamW ----

static result adamw(tc_ctx *tc, int n) {
    result r = {0, 0, HUGE_VAL, 0};
    tc_scope_begin(tc);
    tc_tensor x = start(tc, n), g, steps = tc_zeros(tc, TC_SCALAR, TC_F64);
    tc_tensor average = tc_zeros_like(x), square = tc_zeros_like(x);
    while (r.norm >= 1e-3 && r.steps < MOST) {
        tc_trace_begin(tc, "adamw");
        tc_grad(valley(x), &x, 1, &g);
        tc_tensor norm = tc_norm_all(g, 2);
        tc_adamw_(x, g, average, square, steps, 0.01, 0.9, 0.999, 1e-8, 0);
        if (tc_trace_end(tc)) break;
        r.norm = tc_item(norm);
        r.steps++, r.values++;
    }
    r.off = from_bottom(x);
    tc_scope_end(tc);
    return r;
}

// ---- L-BFGS (Nocedal 1980) ----

typedef struct lbfgs {
    tc_tensor x, gradient; // where we are
    tc_tensor moves,
        changes; // [PAIRS, N]: by how much x and the gradient changed, the last pair last
} lbfgs;

typedef struct place {
    tc_tensor x, gradient, value, norm; // results of a region
} place;

// The place t * direction away.
static place look(tc_ctx *tc, const lbfgs *s, tc_tensor direction, double t) {
    place p;
    tc_trace_begin(tc, "look");
    p.x = tc_add(s->x, tc_mul(direction, tc_scalar(tc, t, TC_F64)));
    p.value = valley(p.x);
    tc_grad(p.value, &p.x, 1, &p.gradient);
    p.norm = tc_norm_all(p.gradient, 2);
    tc_trace_end(tc);
    return p;
}

// Rows move up by one; the first goes, `last` comes.
static void push(tc_tensor rows, tc_tensor last) {
    tc_tensor parts[2];
    parts[0] = tc_narrow(rows, 0, 1, PAIRS - 1), parts[1] = tc_unsqueeze(last, 0);
    tc_copy_(rows, tc_cat(parts, 2, 0));
}

// Minus the gradient times what the pairs know of the Hessian's inverse: two loops over them. A pair that says
// nothing (all zeros at first) or that the valley bends down has the weight 0.
static tc_tensor downwards(const lbfgs *s) {
    tc_tensor q = s->gradient, weight[PAIRS], part[PAIRS], scale = tc_null();
    for (int i = PAIRS - 1; i >= 0; i--) {
        tc_tensor move = tc_select(s->moves, 0, i), change = tc_select(s->changes, 0, i);
        tc_tensor bend = tc_dot(move, change), good = tc_gt_s(bend, 1e-12);
        weight[i] = tc_masked_fill(tc_reciprocal(bend), tc_logical_not(good), 0);
        part[i] = tc_mul(weight[i], tc_dot(move, q));
        q = tc_sub(q, tc_mul(change, part[i]));
        if (i < PAIRS - 1) continue;
        scale = tc_div(bend, tc_dot(change, change));
        scale = tc_masked_fill(scale, tc_logical_not(good), 1);
    }
    q = tc_mul(q, scale);
    for (int i = 0; i < PAIRS; i++) {
        tc_tensor move = tc_select(s->moves, 0, i), change = tc_select(s->changes, 0, i);
        tc_tensor had = tc_mul(weight[i], tc_dot(change, q));
        q = tc_add(q, tc_mul(move, tc_sub(part[i], had)));
    }
    return tc_neg(q);
}

// Goes to p, and says where to go from there, and how steep that is.
static tc_tensor turn(tc_ctx *tc, const lbfgs *s, const place *p, tc_tensor *slope) {
    tc_trace_begin(tc, "turn");
    push(s->moves, tc_sub(p->x, s->x)), tc_copy_(s->x, p->x);
    push(s->changes, tc_sub(p->gradient, s->gradient)), tc_copy_(s->gradient, p->gradient);
    tc_tensor direction = downwards(s);
    *slope = tc_dot(direction, s->gradient);
    tc_trace_end(tc);
    return direction;
}

static result search(tc_ctx *tc, int n) {
    result r = {0, 1, HUGE_VAL, 0};
    lbfgs s;
    tc_scope_begin(tc);
    s.x = start(tc, n), s.gradient = tc_zeros_like(s.x);
    s.moves = tc_zeros(tc, TC_DIMS(PAIRS, n), TC_F64), s.changes = tc_zeros_like(s.moves);
    place p = look(tc, &s, s.gradient, 0);
    while ((r.norm = tc_item(p.norm)) >= 1e-6 && r.steps < MOST && !tc_error(tc)) {
        double value = tc_item(p.value), t = 1;
        tc_tensor slope, direction = turn(tc, &s, &p, &slope);
        double steep = tc_item(slope);
        // Half as far until it is lower by a part of what the slope says.
        for (;; t /= 2) {
            p = look(tc, &s, direction, t);
            r.values++;
            if (tc_item(p.value) <= value + 1e-4 * t * steep || t < 1e-12) break;
        }
        r.steps++;
    }
    r.off = from_bottom(p.x);
    tc_scope_end(tc);
    return r;
}

static int print(const char *name, int n, result r, double small) {
    printf("%-7s %2d dimensions: %4d steps, %4d values, gradient %.0e, %.0e off\n", name, n,
           r.steps, r.values, r.norm, r.off);
    return r.norm < small && r.off < 1e3 * small;
}

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    int ok = 1;
    if (!tc) return 1;
    for (int n = 2; n <= MOST_DIMS; n += 8) {
        ok &= print("AdamW", n, adamw(tc, n), 1e-3);
        ok &= print("L-BFGS", n, search(tc, n), 1e-6);
    }
    printf("a turn: %d kernels, %d programs\n", tc_explain_counts(tc, "turn").kernels,
           tc_explain_counts(tc, "turn").programs);
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    ok &= !tc_error(tc);
    tc_close(tc);
    return !ok;
}
