// What gradients mean where memory, visits and functions come in, and what is refused.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

static double at(tc_tensor t, int i) {
    double x[64];
    if (!CHECK(tc_numel(t) <= 64)) return NAN;
    CHECK_EQ(tc_read(tc_to_f64(t), x, (size_t)tc_numel(t) * sizeof *x), TC_OK);
    return x[i];
}

// sum(x * x)
static tc_tensor squares(tc_tensor x) { return tc_sum_all(tc_square(x)); }

BOTH(backward_adds_to_what_is_there) {
    tc_tensor x = line(tc, 3, 1, 1), w = line(tc, 3, 2, 0), unused = line(tc, 3, 0, 0);
    CHECK_EQ(tc_requires_grad(x, 1), TC_OK);
    CHECK_EQ(tc_requires_grad(unused, 1), TC_OK);
    CHECK(!tc_grad_of(w).id);
    CHECK_EQ(tc_dtype_of(tc_grad_of(x)), TC_F32);
    for (int k = 1; k <= 3; k++) {
        tc_trace_begin(tc, "add");
        tc_add(unused, unused);
        CHECK_EQ(tc_backward(tc_sum_all(tc_mul(tc_square(x), w))), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(at(tc_grad_of(x), 2), 12 * k);
        CHECK_EQ(at(tc_grad_of(unused), 0), 0);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    tc_tensor g = tc_grad_of(x);
    CHECK_EQ(tc_requires_grad(x, 1), TC_OK); // it has one
    CHECK_EQ(tc_grad_of(x).id, g.id);
    CHECK_EQ(tc_requires_grad(x, 0), TC_OK);
    CHECK(!tc_grad_of(x).id);
    CHECK_EQ(tc_requires_grad(x, 1), TC_OK);
    g = tc_grad_of(x);
    tc_free(x);
    CHECK_EQ(tc_rank(g), -1);
    CHECK(strstr(tc_error_text(tc), "gradient"));
    tc_error_clear(tc);
}

// Two losses add; zero_ begins anew, in the same program.
BOTH(two_losses_in_a_step) {
    tc_tensor x = line(tc, 3, 1, 1);
    tc_requires_grad(x, 1);
    for (int k = 0; k < 2; k++) {
        tc_trace_begin(tc, "two");
        tc_zero_(tc_grad_of(x));
        tc_backward(squares(x));
        tc_backward(tc_sum_all(x));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(at(tc_grad_of(x), 1), 5);
    }
}

// A value is derived by, not a name: after `x += 1` x is another.
BOTH(writes_in_place) {
    tc_tensor x = line(tc, 3, 1, 1), was = line(tc, 3, 1, 1), g, h;
    tc_trace_begin(tc, "before");
    tc_add_s_(x, 1);
    tc_tensor loss = squares(x);
    tc_grad(loss, &x, 1, &g);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g, 0), 4);
    tc_copy_(x, was);
    tc_trace_begin(tc, "row");
    tc_tensor m = tc_mul_s(x, 1);
    tc_tensor first = tc_slice(m, 0, 0, 1, 1);
    tc_copy_(first, tc_mul_s(first, 10));
    tc_grad(squares(m), &x, 1, &h);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(h, 0), 200), CHECK_EQ(at(h, 1), 4);
    tc_trace_begin(tc, "update"); // the update is behind the gradient, and one program
    tc_grad(squares(x), &x, 1, &g);
    tc_sub_(x, tc_mul_s(g, 0.25));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(x, 2), 1.5);
}

BOTH(views_of_a_parameter) {
    tc_tensor x = tc_reshape(line(tc, 6, 1, 1), TC_DIMS(2, 3)), g, by_row;
    tc_trace_begin(tc, "views");
    tc_tensor row = tc_select(x, 0, 1);
    tc_tensor loss = tc_add(squares(row), tc_sum_all(tc_t(x)));
    tc_grad(loss, &x, 1, &g);
    tc_grad(loss, &row, 1,
            &by_row); // a value of its own: the transposed one does not count
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g, 0), 1), CHECK_EQ(at(g, 3), 9);
    CHECK_EQ(at(by_row, 0), 8);
}

// Rows of a tensor from outside are written; what reads all of it is of what was written.
BOTH(parts_that_were_written) {
    tc_tensor x = line(tc, 2, 1, 1), rows = tc_ones(tc, TC_DIMS(2, 2), TC_F32), g[2], out;
    tc_tensor t = tc_ones(tc, TC_DIMS(2), TC_F32);
    tc_trace_begin(tc, "parts");
    tc_copy_(tc_select(rows, 0, 1), tc_mul_s(x, 3));
    tc_tensor loss = tc_add(squares(rows), tc_sum_all(x)); // 9 x^2 + x
    tc_grad(loss, &x, 1, &g[0]);
    tc_mul_(tc_select(rows, 0, 0), x);
    tc_grad(squares(rows), &x, 1, &g[1]); // x^2 + 9 x^2
    CHECK_EQ(tc_jvp(squares(rows), &x, &t, 1, &out), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(loss, 0), 2 + 9 + 36 + 3);
    CHECK_EQ(at(g[0], 0), 19), CHECK_EQ(at(g[0], 1), 37);
    CHECK_EQ(at(g[1], 0), 20), CHECK_EQ(at(g[1], 1), 40);
    CHECK_EQ(at(out, 0), 60), CHECK_EQ(at(rows, 3), 6);
}

BOTH(by_what_is_between) {
    tc_tensor x = line(tc, 2, 1, 1), g[2], wrt[2];
    tc_trace_begin(tc, "between");
    tc_tensor y = tc_square(x), loss = tc_sum_all(tc_mul(y, x));
    wrt[0] = y, wrt[1] = loss;
    CHECK_EQ(tc_grad(loss, wrt, 2, g), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g[0], 1), 2), CHECK_EQ(at(g[1], 0), 1);
}

BOTH(what_is_detached) {
    tc_tensor x = line(tc, 2, 1, 1), g[3];
    tc_trace_begin(tc, "detached");
    tc_grad(tc_sum_all(tc_mul(x, tc_detach(x))), &x, 1, &g[0]);
    tc_no_grad_begin(tc);
    tc_tensor y = tc_mul_s(x, 3), v = tc_reshape(x, TC_DIMS(2, 1));
    tc_no_grad_begin(tc);
    CHECK_EQ(tc_no_grad_end(tc), TC_OK);
    tc_tensor z = tc_square(x), copy = tc_empty(tc, TC_DIMS(2), TC_F32);
    tc_copy_(copy, x);
    CHECK_EQ(tc_no_grad_end(tc), TC_OK);
    z = tc_add(z, tc_square(copy));
    tc_tensor loss = tc_add(tc_sum_all(tc_mul(y, x)), tc_sum_all(v));
    tc_grad(tc_add(loss, tc_sum_all(z)), &x, 1, &g[1]);
    tc_grad(squares(x), &x, 1, &g[2]); // the same op as z, where it counts
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g[0], 1), 2), CHECK_EQ(at(g[1], 1), 6), CHECK_EQ(at(g[2], 1), 4);
}

// exp(x y) three times, x^5 four times.
BOTH(higher_orders) {
    tc_tensor x = tc_full(tc, TC_DIMS(1), 0.5, TC_F64),
              y = tc_full(tc, TC_DIMS(1), 1.25, TC_F64);
    tc_tensor d[3], p[4], last;
    tc_trace_begin(tc, "orders");
    last = tc_sum_all(tc_exp(tc_mul(x, y)));
    for (int k = 0; k < 3; k++) tc_grad(last, &x, 1, &d[k]), last = tc_sum_all(d[k]);
    last = tc_sum_all(tc_pow_s(x, 5));
    for (int k = 0; k < 4; k++) tc_grad(last, &x, 1, &p[k]), last = tc_sum_all(p[k]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(fabs(at(d[2], 0) - 1.25 * 1.25 * 1.25 * exp(0.625)) < 1e-12);
    CHECK(fabs(at(p[3], 0) - 120 * 0.5) < 1e-12);
}

BOTH(forward_mode) {
    tc_tensor in[2], t[2], out;
    in[0] = tc_full(tc, TC_DIMS(2), 0.5, TC_F64),
    in[1] = tc_full(tc, TC_DIMS(2), 2, TC_F64);
    t[0] = tc_full(tc, TC_DIMS(2), 3, TC_F64), t[1] = tc_full(tc, TC_DIMS(2), -1, TC_F64);
    tc_trace_begin(tc, "forward");
    tc_tensor y = tc_sin(tc_mul(in[0], in[1]));
    CHECK_EQ(tc_jvp(y, in, t, 2, &out), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(fabs(at(out, 1) - cos(1) * (3 * 2 - 0.5)) < 1e-12);
}

// ---- functions, visits ----

static tc_tensor captured;

static void inner(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul(tc_square(in[0]), captured);
}

static void outer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y;
    (void)tc;
    tc_call((tc_fn *)user, in, 1, &y, 1);
    tc_tensor wrt[2];
    wrt[0] = in[0], wrt[1] = captured;
    tc_grad(tc_sum_all(y), wrt, 2, out);
}

BOTH(functions_in_functions) {
    tc_tensor x = line(tc, 3, 1, 1), g[2];
    captured = line(tc, 3, 2, 1);
    tc_fn *f = tc_compile(tc, inner, NULL, 0, NULL), *h = tc_compile(tc, outer, f, 0, NULL);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call(h, &x, 1, g, 2), TC_OK);
        CHECK_EQ(at(g[0], 1), 12), CHECK_EQ(at(g[1], 2), 9);
    }
    CHECK(tc_stats_get(tc).skips > 0);
}

static int bodies;

static void accumulate(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    bodies++;
    out[0] = squares(in[0]);
    tc_backward(out[0]);
}

// Whether a tensor has a gradient decides what the body records.
BOTH(a_function_hears_of_gradients) {
    tc_tensor x = line(tc, 2, 1, 1), loss;
    tc_fn *f = tc_compile(tc, accumulate, NULL, 0, NULL);
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(tc_call(f, &x, 1, &loss, 1), TC_E_ARG);
        ERROR(TC_E_ARG, "tc_backward: the loss depends on no tensor with tc_requires_grad");
    }
    tc_requires_grad(x, 1), bodies = 0;
    for (int k = 0; k < 4; k++) CHECK_EQ(tc_call(f, &x, 1, &loss, 1), TC_OK);
    CHECK(bodies > 0 && bodies < 4);
    CHECK_EQ(at(tc_grad_of(x), 1), 16);
    tc_requires_grad(x, 0);
    CHECK_EQ(tc_call(f, &x, 1, &loss, 1), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_backward: the loss depends on no tensor with tc_requires_grad");
}

BOTH(run_time_sizes) {
    int programs = 0;
    for (int n = 2; n < 12; n++) {
        tc_tensor x = line(tc, n, 1, 1), g, p;
        tc_trace_begin(tc, "sizes");
        tc_grad(tc_mean_all(tc_square(tc_softmax(x, 0))), &x, 1, &g);
        tc_grad(tc_sum_all(tc_mul(tc_flip(x, TC_DIMS(0)), tc_cumsum(x, 0))), &x, 1, &p);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        double sum = 0;
        for (int i = 0; i < n; i++) sum += at(g, i);
        CHECK(fabs(sum) < 1e-7);
        // sum over i >= j of x[n - 1 - i] x[j]: by x[0] that is x[n - 1 - i] for all i, and x[j] where n - 1 - i = 0
        CHECK(fabs(at(p, 0) - n * (n + 1)) < 1e-4);
        if (n == 4) programs = (int)tc_stats_get(tc).programs;
        tc_free(x);
    }
    CHECK_EQ(tc_stats_get(tc).programs, programs);
}

// A value is read between what is derived and the gradient.
BOTH(across_a_break) {
    tc_tensor x = line(tc, 3, 1, 1), g;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(tc, "break");
        tc_tensor y = tc_square(x), loss = tc_sum_all(tc_mul(y, x));
        CHECK_EQ(tc_item(loss), 36);
        CHECK_EQ(tc_grad(loss, &x, 1, &g), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(at(g, 2), 27);
    }
}

// ---- where there are several slopes ----

static void check_at(tc_ctx *tc, tc_tensor (*f)(tc_tensor), double x, double want) {
    tc_tensor t = tc_full(tc, TC_DIMS(2), x, TC_F64), g;
    tc_trace_begin(tc, "corner");
    tc_grad(tc_sum_all(f(t)), &t, 1, &g);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    if (at(g, 0) != want) FAIL("at %g: %g, not %g", x, at(g, 0), want);
}

static tc_tensor f_relu(tc_tensor x) { return tc_relu(x); }
static tc_tensor f_abs(tc_tensor x) { return tc_abs(x); }
static tc_tensor f_clamp(tc_tensor x) { return tc_clamp(x, 0, 1); }
static tc_tensor f_maximum(tc_tensor x) {
    return tc_maximum(x, tc_zeros_like(tc_detach(tc_exp(x))));
}
static tc_tensor f_amax(tc_tensor x) { return tc_amax(x, 0); }
static tc_tensor f_prod(tc_tensor x) {
    return tc_prod(tc_cat((tc_tensor[]){x, tc_add_s(x, 3)}, 2, 0), 0);
}
static tc_tensor f_infinite(tc_tensor x) { return tc_mul_s(tc_relu(x), (double)INFINITY); }

BOTH(corners_are_those_of_pytorch) {
    check_at(tc, f_relu, 0, 0);
    check_at(tc, f_abs, 0, 0);
    check_at(tc, f_clamp, 0, 1);
    check_at(tc, f_clamp, 1, 1);
    check_at(tc, f_clamp, 2, 0);
    check_at(tc, f_maximum, 0, 1); // a bound that is a number
    check_at(tc, f_amax, 3, 0.5);
    check_at(tc, f_prod, 0, 0);      // two zeros
    check_at(tc, f_infinite, -1, 0); // what does not count is 0, not 0 * inf
    tc_tensor in[2], g[2];
    in[0] = line(tc, 2, 1, 0), in[1] = line(tc, 2, 1, 0);
    tc_trace_begin(tc, "tie");
    tc_grad(tc_sum_all(tc_maximum(in[0], in[1])), in, 2, g);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g[0], 0), 0.5), CHECK_EQ(at(g[1], 1), 0.5);
    tc_tensor one = line(tc, 3, 0, 1), p; // 0 1 2: one zero
    tc_trace_begin(tc, "zero");
    tc_grad(tc_prod_all(one), &one, 1, &p);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(p, 0), 2), CHECK_EQ(at(p, 1), 0);
}

// ---- custom ops ----

static tc_status cube(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const double *x = (const double *)in->data;
    double *y = (double *)out->data;
    (void)user, (void)n_in;
    for (int64_t i = 0; i < in->spec.dims[0]; i++) y[i] = x[i] * x[i] * x[i];
    return TC_OK;
}

static tc_status cube_gradient(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                               tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    (void)tc, (void)n_in, (void)out;
    if (user) return TC_E_UNSUPPORTED;
    grad_in[0] = tc_mul(grad_out, tc_mul_s(tc_square(in[0]), 3));
    return TC_OK;
}

static int register_cube(tc_ctx *tc, const char *name, tc_custom_gradient gradient,
                         void *user) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = name, op.run = cube, op.gradient = gradient, op.user = user;
    return tc_register_op(tc, &op);
}

BOTH(custom_ops) {
    int id = register_cube(tc, "cube", cube_gradient, NULL);
    tc_tensor x = tc_full(tc, TC_DIMS(2), 2, TC_F64), g, h;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(tc, "cube");
        tc_tensor y = tc_custom(tc, id, &x, 1), z = tc_custom(tc, id, &y, 1);
        tc_tensor loss = tc_sum_all(z); // x^9
        CHECK_EQ(tc_grad(loss, &x, 1, &g), TC_OK);
        CHECK_EQ(tc_grad(tc_sum_all(g), &x, 1, &h), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(at(g, 0), 9 * 256), CHECK_EQ(at(h, 1), 72 * 128);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

// ---- what is refused ----

static void refused(tc_ctx *tc, tc_status got, tc_status want, const char *text) {
    CHECK_EQ(got, want);
    if (!strstr(tc_error_text(tc), text))
        FAIL("\"%s\" lacks \"%s\"", tc_error_text(tc), text);
    tc_error_clear(tc);
}

// Ways in which a gradient may learn, or leave somewhere, what has no value yet.
static tc_tensor outside;
static double got;

static tc_status take_first(void *user, const tc_buffer *in, int n_in) {
    (void)user, (void)n_in;
    got = *(const double *)in->data;
    return TC_OK;
}

typedef void (*reader)(tc_ctx *tc, tc_tensor t);
static void by_item(tc_ctx *tc, tc_tensor t) { (void)tc, got = tc_item(tc_sum_all(t)); }
static void by_get(tc_ctx *tc, tc_tensor t) { (void)tc, got = tc_get(t, TC_DIMS(0)); }
static void by_read(tc_ctx *tc, tc_tensor t) {
    double both[2] = {0, 0};
    (void)tc, tc_read(t, both, sizeof both);
    got = both[0];
}
static void by_data(tc_ctx *tc, tc_tensor t) {
    const double *p = (const double *)tc_data(t);
    (void)tc, got = p ? *p : 0;
}
static void by_host(tc_ctx *tc, tc_tensor t) { tc_host_call(tc, take_first, NULL, &t, 1); }
static void by_file(tc_ctx *tc, tc_tensor t) { (void)tc, tc_save_npy(t, "/dev/null"); }
static void apart(tc_ctx *tc, tc_tensor t) {
    tc_disable_begin(tc);
    tc_tensor twice = tc_mul_s(t, 2);
    got = tc_is_null(twice) ? 0 : tc_item(tc_sum_all(twice));
    tc_disable_end(tc);
}
static void keeps_it(tc_ctx *tc, tc_tensor t) { (void)tc, tc_keep(tc_mul_s(t, 2)); }
static void writes_outside(tc_ctx *tc, tc_tensor t) { (void)tc, tc_add_(outside, t); }
static void writes_it(tc_ctx *tc, tc_tensor t) { (void)tc, tc_mul_s_(t, 2); }

static const struct {
    reader read;
    const char *why;
} readers[] = {
    {by_item, "in the gradient of custom op \"reads_0\" no value is read"},
    {by_get, "in the gradient of custom op \"reads_1\" no value is read"},
    {by_read, "in the gradient of custom op \"reads_2\" no value is read"},
    {by_data, "in the gradient of custom op \"reads_3\" no value is read"},
    {by_host, "in the gradient of custom op \"reads_4\" no value is read"},
    {by_file, "in the gradient of custom op \"reads_5\" no value is read"},
    {apart, "in the gradient of custom op \"reads_6\" no value is read"},
    {keeps_it, "in the gradient of custom op \"reads_7\" nothing is kept"},
    {writes_outside, "in the gradient of custom op \"reads_8\" only what it made itself"},
    {writes_it, "in the gradient of custom op \"reads_9\" only what it made itself"},
};

static tc_status reading_gradient(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                                  tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    readers[*(const int *)user].read(tc, grad_out);
    return cube_gradient(tc, NULL, in, n_in, out, grad_out, grad_in);
}

static tc_tensor loss_of(tc_ctx *tc, int id, tc_tensor x) {
    return tc_sum_all(tc_custom(tc, id, &x, 1));
}

static void reading_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_grad(loss_of(tc, *(const int *)user, in[0]), in, 1, out);
}

// By tc_grad, and by tc_backward, in a region; by a function.
BOTH(the_gradient_of_a_custom_op_reads_nothing) {
    enum { N = sizeof readers / sizeof *readers };
    int which[N];
    tc_tensor x = tc_full(tc, TC_DIMS(2), 2, TC_F64), g;
    outside = tc_full(tc, TC_DIMS(2), 5, TC_F64);
    tc_requires_grad(x, 1);
    for (int i = 0; i < N; i++) {
        char name[16];
        which[i] = i, snprintf(name, sizeof name, "reads_%d", i);
        int id = register_cube(tc, name, reading_gradient, &which[i]);
        tc_fn *f = tc_compile(tc, reading_body, &id, sizeof id, NULL);
        for (int visit = 0; visit < 2; visit++) {
            tc_trace_begin(tc, "grad");
            CHECK_EQ(tc_grad(loss_of(tc, id, x), &x, 1, &g), TC_E_UNSUPPORTED);
            CHECK(tc_is_null(g));
            refused(tc, tc_trace_end(tc), TC_E_UNSUPPORTED, readers[i].why);
            tc_trace_begin(tc, "backward");
            CHECK_EQ(tc_backward(loss_of(tc, id, x)), TC_E_UNSUPPORTED);
            refused(tc, tc_trace_end(tc), TC_E_UNSUPPORTED, readers[i].why);
            refused(tc, tc_call(f, &x, 1, &g, 1), TC_E_UNSUPPORTED, readers[i].why);
        }
        tc_fn_free(f);
        CHECK_EQ(at(outside, 0), 5), CHECK_EQ(at(tc_grad_of(x), 0), 0);
    }
}

// What a gradient makes itself, it may write in place, and behind it values are read as ever.
static tc_status writing_gradient(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                                  tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    (void)tc, (void)user, (void)n_in, (void)out;
    grad_in[0] = tc_mul_s_(tc_mul(grad_out, tc_square(in[0])), 3);
    return TC_OK;
}

// Nor does it end the region that it is recorded in.
static tc_status ends_more(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                           tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    int lazy = *(const int *)user;
    CHECK_EQ(lazy ? tc_eval(tc, NULL, 0) : tc_trace_end(tc),
             lazy ? TC_E_STATE : TC_E_REGION);
    return cube_gradient(tc, NULL, in, n_in, out, grad_out, grad_in);
}

BOTH(the_gradient_of_a_custom_op_ends_no_region) {
    static const int is_lazy[2] = {0, 1};
    tc_tensor x = tc_full(tc, TC_DIMS(2), 2, TC_F64), g;
    int by_end = register_cube(tc, "ends", ends_more, (void *)(uintptr_t)&is_lazy[0]);
    int by_eval = register_cube(tc, "evals", ends_more, (void *)(uintptr_t)&is_lazy[1]);
    tc_trace_begin(tc, "ended");
    CHECK_EQ(tc_grad(loss_of(tc, by_end, x), &x, 1, &g), TC_E_REGION);
    refused(tc, tc_trace_end(tc), TC_E_REGION,
            "is open around the op whose gradient this is");
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    refused(tc, tc_grad(loss_of(tc, by_eval, x), &x, 1, &g), TC_E_STATE,
            "tc_eval: a region is open");
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    tc_error_clear(tc);
}

BOTH(the_gradient_of_a_custom_op_writes_its_own) {
    int id = register_cube(tc, "writes_own", writing_gradient, NULL);
    tc_tensor x = tc_full(tc, TC_DIMS(2), 2, TC_F64), g;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(tc, "own");
        CHECK_EQ(tc_grad(loss_of(tc, id, x), &x, 1, &g), TC_OK);
        CHECK_NEAR(tc_item(tc_sum_all(g)), 24, 0);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
}

static void end_refused(tc_ctx *tc, tc_status want, const char *text) {
    refused(tc, tc_trace_end(tc), want, text);
}

BOTH(refusals) {
    tc_tensor x = line(tc, 3, 1, 1), n = tc_to_i32(x), y = line(tc, 3, 2, 1), g, t[2];
    refused(tc, tc_grad(x, &y, 1, &g), TC_E_STATE, "tc_trace_begin");
    refused(tc, tc_backward(x), TC_E_STATE, "tc_trace_begin");
    refused(tc, tc_requires_grad(n, 1), TC_E_DTYPE, "i32");
    refused(tc, tc_requires_grad(tc_null(), 1), TC_E_NULL, "null");
    tc_trace_begin(tc, "refusals");
    tc_tensor loss = squares(x);
    refused(tc, tc_requires_grad(x, 1), TC_E_STATE, "call it outside");
    refused(tc, tc_grad(x, &x, 1, &g), TC_E_SHAPE, "[3]");
    CHECK(!g.id);
    refused(tc, tc_grad(loss, &n, 1, &g), TC_E_DTYPE, "wrt[0] is i32");
    t[0] = x, t[1] = tc_null();
    refused(tc, tc_grad(loss, t, 2, t), TC_E_NULL, "wrt[1]");
    refused(tc, tc_grad(loss, NULL, 1, &g), TC_E_NULL, "wrt is null");
    refused(tc, tc_grad(loss, &x, -1, &g), TC_E_ARG, "-1");
    refused(tc, tc_grad(tc_sum_all(n), &x, 1, &g), TC_E_DTYPE, "only floats");
    refused(tc, tc_vjp(x, loss, &x, 1, &g), TC_E_SHAPE, "alike");
    refused(tc, tc_jvp(x, &x, &loss, 1, &g), TC_E_SHAPE, "t[0] is f32[], wrt[0] f32[3]");
    refused(tc, tc_no_grad_end(tc), TC_E_STATE, "tc_no_grad_begin");
    CHECK_EQ(tc_grad(loss, &x, 0, NULL), TC_OK);
    CHECK_EQ(tc_grad(loss, &x, 1, &g), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g, 2), 6);
}

BOTH(refusals_at_the_end) {
    tc_tensor x = line(tc, 3, 1, 1), y = line(tc, 3, 2, 1), g;
    tc_requires_grad(x, 1);
    tc_trace_begin(tc, "written"); // between what is derived and the gradient
    tc_tensor early = squares(x);
    tc_add_s_(x, 1);
    CHECK_EQ(tc_backward(early), TC_OK);
    end_refused(tc, TC_E_ARG, "it was written in place at tests/grad/rules.c:");
    CHECK_EQ(at(x, 0), 1);
    tc_requires_grad(x, 0);
    tc_trace_begin(tc, "no way");
    CHECK_EQ(tc_grad(squares(x), &y, 1, &g), TC_OK);
    end_refused(tc, TC_E_ARG, "does not depend");
    int id = register_cube(tc, "opaque", NULL, NULL);
    tc_tensor z = tc_full(tc, TC_DIMS(2), 2, TC_F64);
    tc_trace_begin(tc, "no derivative");
    CHECK_EQ(tc_grad(tc_sum_all(tc_custom(tc, id, &z, 1)), &z, 1, &g), TC_OK);
    end_refused(tc, TC_E_UNSUPPORTED, "custom");
    int failing = register_cube(tc, "failing", cube_gradient, tc);
    tc_trace_begin(tc, "failing");
    tc_tensor sum = tc_sum_all(tc_custom(tc, failing, &z, 1));
    refused(tc, tc_grad(sum, &z, 1, &g), TC_E_UNSUPPORTED, "failing");
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_item(sum), 16);
}

// How many products there are one operand says, and of the other it is a size at run time.
BOTH(batches_of_a_dynamic_size) {
    static const int64_t rows[] = {2, 0};
    tc_tensor q = tc_reshape(line(tc, 2, 1, 1), TC_DIMS(2, 1, 1));
    tc_tensor x = tc_reshape(line(tc, 3, 4, 1), TC_DIMS(3, 1, 1)), g;
    tc_tensor i = tc_from_data(tc, rows, TC_DIMS(2), TC_I64);
    tc_mark_dynamic(i, 0, 0, 0);
    tc_trace_begin(tc, "batches");
    tc_tensor loss = tc_sum_all(tc_matmul(q, tc_take(x, i, 0)));
    CHECK_EQ(tc_grad(loss, &x, 1, &g), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(at(g, 0), 2), CHECK_EQ(at(g, 1), 0), CHECK_EQ(at(g, 2), 1);
}
