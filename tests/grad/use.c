// What the calls for gradients do beside deriving: gradients that add up, writes in place, views, functions, captured
// tensors, run-time sizes, graph breaks; and each error, with its text, after which work goes on.
#include "tcompile.h"

#include "harness.h"

#include <sys/mman.h>

#include "help.h"

#define GRAD(loss, x, g) tc_grad(loss, &(x), 1, &(g))

// All n elements of an f32 tensor are near c + i * step.
#define IS_LINE(t, n, c, step) is_line((t), (n), (c), (step), __LINE__)
static void is_line(tc_tensor t, int n, double c, double step, int line_number) {
    if (tc_numel(t) != n)
        test_fail(__FILE__, line_number, "%lld elements, not %d", (long long)tc_numel(t),
                  n);
    for (int i = 0; i < n && i < tc_numel(t); i++)
        if (!(fabs(AT(t, i) - (c + i * step)) <= 1e-4 * (1 + fabs(c + i * step))))
            test_fail(__FILE__, line_number, "element %d is %g, not %g", i, AT(t, i),
                      c + i * step);
}

static tc_tensor sum_of_squares(tc_tensor x) { return tc_sum_all(tc_mul(x, x)); }

// ---- tensors that have a gradient ----
BOTH(backward_adds_to_the_gradient) {
    tc_tensor w = line(tc, 4, 0, 1), x = line(tc, 4, 1, 1);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    IS_LINE(tc_grad_of(w), 4, 0, 0);
    CHECK(tc_is_null(tc_grad_of(x)));
    CHECK(tc_is_null(tc_grad_of(tc_null())));
    for (int visit = 1; visit < 4; visit++) {
        BEGIN("adds");
        CHECK_EQ(tc_backward(tc_sum_all(tc_mul(w, x))), TC_OK);
        END();
        IS_LINE(tc_grad_of(w), 4, visit, visit);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    tc_zero_(tc_grad_of(w));
    IS_LINE(tc_grad_of(w), 4, 0, 0);
}

BOTH(a_gradient_is_written_like_any_tensor) {
    tc_tensor w = line(tc, 4, 1, 1);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    for (int visit = 0; visit < 3; visit++) {
        BEGIN("zeroed");
        tc_zero_(tc_grad_of(w));
        tc_backward(sum_of_squares(w));
        tc_tensor doubled = tc_mul_s(tc_grad_of(w), 2);
        END();
        IS_LINE(tc_grad_of(w), 4, 2, 2);
        IS_LINE(doubled, 4, 4, 4);
    }
}

BOTH(a_gradient_ends_with_its_tensor) {
    tc_tensor w = line(tc, 4, 1, 1), v = line(tc, 4, 1, 1);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    CHECK_EQ(tc_requires_grad(v, 1), TC_OK);
    tc_tensor of_w = tc_grad_of(w), of_v = tc_grad_of(v);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK); // once more changes nothing
    CHECK_EQ(tc_grad_of(w).id, of_w.id);
    tc_free(w);
    CHECK(tc_is_null(tc_neg(of_w)));
    ERROR(TC_E_DEAD, "");
    CHECK_EQ(tc_requires_grad(v, 0), TC_OK);
    CHECK(tc_is_null(tc_grad_of(v)));
    CHECK(tc_is_null(tc_neg(of_v)));
    ERROR(TC_E_DEAD, "");
    IS_LINE(v, 4, 1, 1);
}

// Each block lies in pages of its own, which go when it is freed: who reads it then crashes.
static void *paged_realloc(void *user, void *p, size_t old_size, size_t new_size) {
    void *q = NULL;
    (void)user;
    if (new_size) {
        q = mmap(NULL, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0);
        if (q == MAP_FAILED) return NULL;
    }
    if (p && q) memcpy(q, p, old_size < new_size ? old_size : new_size);
    if (p) munmap(p, old_size);
    return q;
}

// Slots that were freed are taken again, so a gradient may stand before its tensor, or behind it.
TEST(a_gradient_before_its_tensor_ends_with_the_context) {
    for (int late = 0; late < 2; late++) {
        tc_config config = tc_config_default();
        config.backend = "aot_eager", config.threads = 1;
        config.allocator.realloc = paged_realloc;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(tc);
        tc_tensor early = tc_ones(tc, TC_DIMS(4), TC_F32);
        tc_tensor w = tc_ones(tc, TC_DIMS(4), TC_F32), view = tc_reshape(w, TC_DIMS(2, 2));
        if (!late) tc_free(early);
        CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
        CHECK_EQ(tc_requires_grad(view, 1), TC_OK);
        tc_params *p = tc_params_open(tc);
        tc_tensor b = tc_param(p, "b", TC_DIMS(4), TC_F32, tc_init_zeros());
        if (late) tc_free(early);
        CHECK_EQ(tc_requires_grad(b, 1), TC_OK);
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
}

BOTH(a_gradient_outlives_the_scope_it_is_made_in) {
    tc_tensor w = line(tc, 4, 1, 1);
    tc_scope_begin(tc);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    tc_scope_end(tc);
    BEGIN("scope");
    tc_backward(sum_of_squares(w));
    END();
    IS_LINE(tc_grad_of(w), 4, 2, 2);
}

BOTH(a_kept_result_may_have_a_gradient) {
    tc_tensor x = line(tc, 20, 1, 1);
    BEGIN("makes");
    tc_tensor w = tc_keep(tc_mul_s(x, 2));
    END();
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    BEGIN("uses");
    tc_backward(tc_sum_all(tc_mul(w, x)));
    END();
    IS_LINE(tc_grad_of(w), 20, 1, 1);
    tc_free(w);
}

BOTH(what_the_loss_does_not_depend_on_gets_nothing) {
    tc_tensor w = line(tc, 4, 1, 1), v = line(tc, 4, 1, 1), x = line(tc, 4, 1, 1);
    tc_requires_grad(w, 1), tc_requires_grad(v, 1);
    BEGIN("apart");
    tc_tensor other = tc_mul(v, v);
    CHECK_EQ(tc_backward(tc_sum_all(tc_mul(w, x))), TC_OK);
    END();
    IS_LINE(tc_grad_of(w), 4, 1, 1);
    IS_LINE(tc_grad_of(v), 4, 0, 0);
    IS_LINE(tc_sqrt(other), 4, 1, 1);
}

BOTH(a_loss_of_another_region_has_no_graph) {
    tc_tensor w = line(tc, 4, 1, 1);
    tc_requires_grad(w, 1);
    BEGIN("first");
    tc_tensor loss = tc_keep(sum_of_squares(w));
    END();
    BEGIN("second");
    CHECK_EQ(tc_backward(loss), TC_E_ARG);
    CHECK_EQ(tc_trace_end(tc), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_backward: the loss was not computed in this region or function");
    BEGIN("with more");
    CHECK_EQ(tc_backward(tc_add(loss, sum_of_squares(w))), TC_OK);
    END();
    IS_LINE(tc_grad_of(w), 4, 2, 2);
}

BOTH(two_losses_in_one_region) {
    tc_tensor w = line(tc, 4, 1, 1), a, b;
    tc_requires_grad(w, 1);
    for (int visit = 1; visit < 4; visit++) {
        BEGIN("two");
        tc_tensor first = tc_sum_all(w), second = sum_of_squares(w);
        tc_backward(first);
        tc_backward(second);
        GRAD(first, w, a);
        GRAD(second, w, b);
        END();
        IS_LINE(tc_grad_of(w), 4, 3 * visit, 2 * visit);
        IS_LINE(a, 4, 1, 0);
        IS_LINE(b, 4, 2, 2);
    }
}

BOTH(training_lowers_the_loss) {
    tc_tensor w = line(tc, 4, 1, -1), b = line(tc, 1, 1, 0), x = line(tc, 24, -1, 0.1);
    x = tc_reshape(x, TC_DIMS(6, 4));
    tc_tensor want = tc_reshape(tc_sum(x, 1), TC_DIMS(6, 1));
    double first = 0, last = 0;
    tc_requires_grad(w, 1), tc_requires_grad(b, 1);
    for (int visit = 0; visit < 60; visit++) {
        BEGIN("training");
        tc_zero_(tc_grad_of(w)), tc_zero_(tc_grad_of(b));
        tc_tensor row = tc_reshape(w, TC_DIMS(1, 4));
        tc_tensor loss = tc_mse_loss(tc_linear(x, row, b), want);
        tc_backward(loss);
        tc_sgd_(w, tc_grad_of(w), tc_null(), 0.2, 0, 0, 0);
        tc_sgd_(b, tc_grad_of(b), tc_null(), 0.2, 0, 0, 0);
        END();
        last = AT(loss, 0);
        if (!visit) first = last;
    }
    CHECK(last < first / 100);
    CHECK(tc_stats_get(tc).programs <= 6);
}

// ---- what may be derived by what ----
BOTH(the_loss_may_be_an_input) {
    tc_tensor s = line(tc, 1, 5, 0), g;
    BEGIN("itself");
    GRAD(s, s, g);
    END();
    IS_LINE(g, 1, 1, 0);
}

BOTH(wrt_a_value_between) {
    tc_tensor w = line(tc, 20, 1, 1), g[2], wrt[2];
    BEGIN("between");
    tc_tensor h = tc_mul_s(w, 3), loss = sum_of_squares(h);
    wrt[0] = h, wrt[1] = w;
    tc_grad(loss, wrt, 2, g);
    END();
    IS_LINE(g[0], 20, 6, 6);
    IS_LINE(g[1], 20, 18, 18);
}

BOTH(out_may_be_wrt_and_n_none) {
    tc_tensor t[2];
    t[0] = line(tc, 4, 1, 1), t[1] = line(tc, 4, 2, 2);
    BEGIN("in_place");
    tc_tensor loss = tc_dot(t[0], t[1]);
    CHECK_EQ(tc_grad(loss, NULL, 0, NULL), TC_OK);
    CHECK_EQ(tc_grad(loss, t, 2, t), TC_OK);
    END();
    IS_LINE(t[0], 4, 2, 2);
    IS_LINE(t[1], 4, 1, 1);
}

BOTH(a_tensor_used_twice) {
    tc_tensor w = line(tc, 4, 1, 1), g;
    BEGIN("twice");
    tc_tensor loss = tc_add(tc_sum_all(tc_mul(w, w)), tc_sum_all(tc_mul_s(w, 3)));
    GRAD(loss, w, g);
    END();
    IS_LINE(g, 4, 5, 2);
}

BOTH(the_gradient_of_a_gradient) {
    tc_tensor x = line(tc, 4, 1, 1), g, h, k;
    BEGIN("again");
    GRAD(tc_sum_all(tc_mul(tc_mul(x, x), x)), x, g);
    GRAD(tc_sum_all(g), x, h);
    GRAD(tc_sum_all(h), x, k);
    END();
    for (int i = 0; i < 4; i++) CHECK_NEAR(AT(g, i), 3 * (1 + i) * (1 + i), 1e-4);
    IS_LINE(h, 4, 6, 6);
    IS_LINE(k, 4, 6, 0);
}

BOTH(detach_stops) {
    tc_tensor x = line(tc, 4, 1, 1), g;
    BEGIN("detached");
    tc_tensor square = tc_detach(tc_mul(x, x));
    GRAD(tc_sum_all(tc_mul(square, x)), x, g);
    END();
    for (int i = 0; i < 4; i++) CHECK_NEAR(AT(g, i), (1 + i) * (1 + i), 1e-5);
    tc_tensor outside = tc_detach(x); // a view
    tc_add_s_(outside, 1);
    IS_LINE(x, 4, 2, 1);
    BEGIN("none_is_left");
    GRAD(tc_sum_all(tc_detach(x)), x, g);
    CHECK_EQ(tc_trace_end(tc), TC_E_ARG);
    ERROR(TC_E_ARG, "does not depend");
}

// A detached tensor shows the memory that it is of, as PyTorch's does. What was computed before a write through it is
// derived by what was there; elements that were written are no more derived by what they were made of, all others are.
BOTH(writes_to_a_detached_tensor) {
    static const double left[4][4] = {
        {0, 0, 2, 2}, {5, 5, 2, 2}, {2, 2, 2, 2}, {0, 2, 2, 2}};
    for (int k = 0; k < 4; k++) {
        char name[20];
        tc_tensor x = line(tc, 4, 1, 1), g, before = tc_null();
        snprintf(name, sizeof name, "written_%d", k);
        BEGIN(name);
        tc_tensor y = tc_mul_s(x, 2), d = tc_detach(y);
        if (k == 0) tc_mul_s_(tc_narrow(d, 0, 0, 2), 3);
        if (k == 1) tc_copy_(tc_narrow(d, 0, 0, 2), tc_mul_s(tc_narrow(x, 0, 0, 2), 5));
        if (k == 2) before = tc_clone(y), tc_fill_(d, 7);
        if (k == 3) tc_fill_(tc_narrow(tc_narrow(d, 0, 0, 2), 0, 0, 1), 9);
        GRAD(tc_sum_all(k == 2 ? before : y), x, g);
        tc_keep(y), tc_keep(d);
        END();
        for (int i = 0; i < 4; i++) {
            double was = 2 * (1 + i), want = was;
            if (k == 0 && i < 2) want = 3 * was;
            if (k == 1 && i < 2) want = 5 * (1 + i);
            if (k == 2) want = 7;
            if (k == 3 && !i) want = 9;
            CHECK_NEAR(AT(y, i), want, 0);
            CHECK_NEAR(AT(d, i), want, 0); // the same memory
            CHECK_NEAR(AT(g, i), left[k][i], 0);
        }
    }
    tc_tensor x = line(tc, 4, 1, 1), g;
    BEGIN("all_written");
    tc_tensor y = tc_mul_s(x, 2);
    tc_mul_s_(tc_detach(y), 3);
    GRAD(tc_sum_all(y), x, g);
    CHECK_EQ(tc_trace_end(tc), TC_E_ARG);
    ERROR(TC_E_ARG, "does not depend on wrt[0]");
    BEGIN("input_written"); // by x as it is then
    tc_mul_s_(tc_detach(x), 3);
    GRAD(sum_of_squares(x), x, g);
    END();
    IS_LINE(x, 4, 3, 3);
    IS_LINE(g, 4, 6, 6);
    BEGIN("no_grad_view");
    y = tc_mul_s(x, 2);
    tc_no_grad_begin(tc);
    tc_fill_(tc_narrow(tc_narrow(y, 0, 1, 3), 0, 0, 1), 9);
    tc_no_grad_end(tc);
    GRAD(tc_sum_all(y), x, g);
    END();
    for (int i = 0; i < 4; i++) CHECK_NEAR(AT(g, i), i == 1 ? 0 : 2, 0);
}

BOTH(halves_have_gradients_of_halves) {
    tc_tensor x = tc_cast(line(tc, 4, 1, 1), TC_F16), g;
    BEGIN("half");
    GRAD(tc_sum_all(tc_mul(x, x)), x, g);
    END();
    CHECK_EQ(tc_dtype_of(g), TC_F16);
    IS_LINE(tc_cast(g, TC_F32), 4, 2, 2);
}

// ---- writes in place, views ----
BOTH(written_before_it_is_used) {
    tc_tensor w = line(tc, 4, 0, 1), g;
    BEGIN("before");
    tc_add_s_(w, 1);
    GRAD(sum_of_squares(w), w, g);
    END();
    IS_LINE(w, 4, 1, 1);
    IS_LINE(g, 4, 2, 2);
}

BOTH(written_behind_the_gradient) {
    tc_tensor w = line(tc, 20, 1, 1), g;
    for (int visit = 0; visit < 3; visit++) {
        double scale = pow(0.5, visit);
        BEGIN("behind");
        GRAD(sum_of_squares(w), w, g);
        tc_sub_(w, tc_mul_s(g, 0.25));
        END();
        IS_LINE(g, 20, 2 * scale, 2 * scale);
        IS_LINE(w, 20, scale / 2, scale / 2);
    }
}

BOTH(written_through_a_view) {
    tc_tensor w = line(tc, 6, 1, 1), x = line(tc, 3, 1, 1), g[2], wrt[2];
    BEGIN("through");
    tc_mul_s_(tc_slice(w, 0, 0, 3, 1), 2);
    tc_tensor y = tc_mul_s(w, 1);
    tc_copy_(tc_slice(y, 0, 3, 6, 1), tc_mul(x, x));
    wrt[0] = w, wrt[1] = x;
    tc_grad(tc_sum_all(tc_mul(y, y)), wrt, 2, g);
    END();
    for (int i = 0; i < 6; i++) CHECK_NEAR(AT(g[0], i), i < 3 ? 4 * (1 + i) : 0, 1e-5);
    for (int i = 0; i < 3; i++) CHECK_NEAR(AT(g[1], i), 4 * pow(1 + i, 3), 1e-3);
}

BOTH(a_value_is_derived_as_it_was_used) {
    tc_tensor x = line(tc, 4, 1, 1), g;
    BEGIN("as_used");
    tc_tensor y = tc_mul(x, x), z = tc_mul(y, x); // x^3
    tc_mul_s_(y, 100);
    GRAD(tc_sum_all(z), x, g);
    END();
    for (int i = 0; i < 4; i++) CHECK_NEAR(AT(g, i), 3 * (1 + i) * (1 + i), 1e-4);
    IS_LINE(x, 4, 1, 1);
}

BOTH(views_of_a_parameter) {
    tc_tensor w = tc_reshape(line(tc, 6, 1, 1), TC_DIMS(2, 3)), g[2], wrt[2];
    BEGIN("views");
    tc_tensor row = tc_select(w, 0, 1), turned = tc_t(w);
    wrt[0] = w, wrt[1] = row;
    tc_tensor loss = tc_add(sum_of_squares(row), tc_sum_all(tc_select(turned, 0, 0)));
    tc_grad(loss, wrt, 2, g);
    END();
    static const double want[] = {1, 0, 0, 9, 10, 12};
    for (int i = 0; i < 6; i++) CHECK_NEAR(AT(g[0], i), want[i], 1e-5);
    IS_LINE(g[1], 3, 8, 2);
}

BOTH(a_parameter_that_is_a_view) {
    tc_tensor all = line(tc, 8, 1, 1), g;
    tc_tensor w = tc_slice(all, 0, 1, 8, 2); // 2 4 6 8
    tc_requires_grad(w, 1);
    for (int visit = 1; visit < 3; visit++) {
        BEGIN("is_a_view");
        tc_tensor loss = sum_of_squares(w);
        GRAD(loss, w, g);
        tc_backward(loss);
        END();
        IS_LINE(g, 4, 4, 4);
        IS_LINE(tc_grad_of(w), 4, 4 * visit, 4 * visit);
    }
    BEGIN("beside_what_it_shows");
    tc_tensor loss = tc_add(sum_of_squares(w), tc_sum_all(all));
    GRAD(loss, w, g);
    tc_mul_s_(all, 2);
    END();
    IS_LINE(g, 4, 4, 4);
    IS_LINE(w, 4, 4, 4);
}

// ---- functions ----
static void cube_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul(tc_mul(in[0], in[0]), in[0]);
}

static void slope_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    GRAD(sum_of_squares(in[0]), in[0], out[0]);
}

static void cube_slope_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y = tc_null();
    (void)tc;
    tc_call((tc_fn *)user, in, 1, &y, 1);
    GRAD(tc_sum_all(y), in[0], out[0]);
}

BOTH(a_function_inside) {
    tc_fn *f = tc_compile(tc, cube_body, NULL, 0, NULL);
    tc_tensor x = line(tc, 20, 0, 0.5), y, g;
    for (int visit = 0; visit < 4; visit++) {
        BEGIN("inside");
        CALL(f, &x, 1, &y, 1);
        GRAD(tc_sum_all(y), x, g);
        END();
        for (int i = 0; i < 20; i++) CHECK_NEAR(AT(g, i), 0.75 * i * i, 1e-3);
    }
}

BOTH(a_function_that_derives) {
    tc_fn *f = tc_compile(tc, slope_body, NULL, 0, NULL), *cube;
    tc_tensor g, x[3];
    for (int k = 0; k < 3; k++) x[k] = line(tc, 20, k, 1);
    for (int call = 0; call < 6; call++) {
        CALL(f, &x[call % 3], 1, &g, 1);
        IS_LINE(g, 20, 2 * (call % 3), 2);
        tc_free(g);
    }
    CHECK(tc_fn_demoted(f) == NULL);
    CHECK(tc_stats_get(tc).skips >= 4);
    cube = tc_compile(tc, cube_body, NULL, 0, NULL);
    f = tc_compile(tc, cube_slope_body, cube, 0, NULL);
    for (int call = 0; call < 4; call++) {
        CALL(f, &x[1], 1, &g, 1);
        for (int i = 0; i < 20; i++) CHECK_NEAR(AT(g, i), 3 * (1 + i) * (1 + i), 1e-2);
        tc_free(g);
    }
    // and of what a function has derived
    for (int visit = 0; visit < 3; visit++) {
        tc_tensor h;
        BEGIN("of_it");
        CALL(f, &x[1], 1, &g, 1);
        GRAD(tc_sum_all(g), x[1], h);
        END();
        IS_LINE(h, 20, 6, 6);
    }
}

typedef struct model {
    tc_tensor w, v;
    int bodies;
} model;

static void captured_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    model *m = (model *)user;
    (void)tc;
    m->bodies++;
    tc_tensor loss = tc_sum_all(tc_mul(tc_mul(m->w, m->v), in[0]));
    GRAD(loss, m->w, out[0]);
    tc_backward(loss);
}

BOTH(captured_tensors) {
    model m = {line(tc, 4, 1, 1), line(tc, 4, 2, 0), 0};
    tc_tensor x = line(tc, 4, 1, 1), g;
    tc_fn *f = tc_compile(tc, captured_body, &m, 0, NULL);
    tc_requires_grad(m.w, 1);
    for (int call = 1; call <= 5; call++) {
        CALL(f, &x, 1, &g, 1);
        IS_LINE(g, 4, 2, 2);
        IS_LINE(tc_grad_of(m.w), 4, 2 * call, 2 * call);
        tc_free(g);
    }
    CHECK_EQ(m.bodies, 2);
    tc_mul_s_(m.v, 2); // other contents, the same program
    CALL(f, &x, 1, &g, 1);
    IS_LINE(g, 4, 4, 4);
    CHECK_EQ(m.bodies, 2);
}

BOTH(a_gradient_switched_between_calls) {
    model m = {line(tc, 4, 1, 1), line(tc, 4, 2, 0), 0};
    tc_tensor x = line(tc, 4, 1, 1), g;
    tc_fn *f = tc_compile(tc, captured_body, &m, 0, NULL);
    for (int call = 0; call < 3; call++) {
        CHECK_EQ(tc_call(f, &x, 1, &g, 1), TC_E_ARG); // as yet nothing has a gradient
        ERROR(TC_E_ARG, "the loss depends on no tensor with tc_requires_grad");
    }
    int before = m.bodies;
    tc_requires_grad(m.w, 1);
    for (int call = 1; call < 4; call++) {
        CALL(f, &x, 1, &g, 1);
        IS_LINE(tc_grad_of(m.w), 4, 2 * call, 2 * call);
    }
    CHECK(m.bodies > before);
    before = m.bodies;
    tc_requires_grad(m.v, 1);
    for (int call = 1; call < 4; call++) {
        CALL(f, &x, 1, &g, 1);
        IS_LINE(tc_grad_of(m.w), 4, 2 * (call + 3), 2 * (call + 3));
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(AT(tc_grad_of(m.v), i), call * (1 + i) * (1 + i), 1e-4);
    }
    CHECK(m.bodies > before);
    before = m.bodies;
    tc_requires_grad(m.w, 0);
    for (int call = 4; call < 7; call++) {
        CALL(f, &x, 1, &g, 1);
        CHECK(tc_is_null(tc_grad_of(m.w)));
        CHECK_NEAR(AT(tc_grad_of(m.v), 1), call * 4, 1e-4);
    }
    CHECK(m.bodies > before);
    tc_requires_grad(m.w, 1); // anew, from zeros
    CALL(f, &x, 1, &g, 1);
    IS_LINE(tc_grad_of(m.w), 4, 2, 2);
}

static void linear_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor wrt[3];
    memcpy(wrt, in, sizeof wrt);
    tc_tensor y = tc_linear(in[0], in[1], in[2]);
    tc_grad(tc_mean_all(tc_mul(y, y)), wrt, 3, out);
}

// y = x w^T + b, of which w gets 2 y^T x / numel.
static void check_batch(tc_fn *f, tc_ctx *tc, int n) {
    enum { IN = 3, OUT = 2 };
    tc_tensor in[3], g[3];
    double want[OUT * IN] = {0};
    in[0] = tc_reshape(line(tc, n * IN, -1, 0.125), TC_DIMS(n, IN));
    in[1] = tc_reshape(line(tc, OUT * IN, 1, -0.25), TC_DIMS(OUT, IN));
    in[2] = line(tc, OUT, 0.5, 1);
    for (int i = 0; i < n; i++)
        for (int o = 0; o < OUT; o++) {
            double y = 0.5 + o;
            for (int k = 0; k < IN; k++)
                y += (-1 + 0.125 * (i * IN + k)) * (1 - 0.25 * (o * IN + k));
            for (int k = 0; k < IN; k++)
                want[o * IN + k] += 2 * y * (-1 + 0.125 * (i * IN + k)) / (n * OUT);
        }
    CALL(f, in, 3, g, 3);
    CHECK_EQ(tc_dim(g[0], 0), n);
    for (int i = 0; i < OUT * IN; i++)
        CHECK_NEAR(AT(g[1], i), want[i], 1e-4 * (1 + fabs(want[i])));
}

BOTH(run_time_sizes) {
    tc_fn *f = tc_compile(tc, linear_body, NULL, 0, NULL);
    static const int sizes[] = {4, 7, 5, 9, 4, 16, 33, 7, 3, 2, 21, 12};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tc_scope_begin(tc);
        check_batch(f, tc, sizes[i]);
        tc_scope_end(tc);
    }
    CHECK(tc_explain_counts(tc, "linear_body").programs <= 3);
}

// Slices, windows, pads, indices, pools of a size that comes at run time.
static void windows_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor x = in[0], list[2];
    list[0] = tc_slice(x, 0, 1, TC_END, 1), list[1] = tc_flip(x, TC_DIMS(0));
    tc_tensor y = tc_cat(list, 2, 0);
    y = tc_sum(tc_unfold(y, 0, 3, 1), -1);
    y = tc_cumsum(tc_pad(y, TC_DIMS(2), TC_DIMS(1), 1), 0);
    GRAD(sum_of_squares(tc_softmax(y, 0)), in[0], out[0]);
}

BOTH(run_time_sizes_of_windows) {
    tc_fn *f = tc_compile(tc, windows_body, NULL, 0, NULL);
    tc_options off = tc_options_default();
    off.dynamic = TC_DYNAMIC_OFF;
    tc_fn *fixed = tc_compile(tc, windows_body, NULL, 0, &off);
    static const int sizes[] = {6, 8, 11, 5, 30, 7, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tc_scope_begin(tc);
        tc_tensor x = tc_sin(line(tc, sizes[i], 1, 1)), g, want;
        CALL(f, &x, 1, &g, 1);
        CALL(fixed, &x, 1, &want, 1);
        for (int k = 0; k < sizes[i]; k++) CHECK_NEAR(AT(g, k), AT(want, k), 0);
        tc_scope_end(tc);
    }
}

// ---- graph breaks ----
BOTH(a_value_read_behind_the_gradient) {
    tc_tensor x = line(tc, 20, 1, 1), g, y;
    for (int visit = 0; visit < 3; visit++) {
        BEGIN("read_behind");
        tc_tensor loss = sum_of_squares(x);
        GRAD(loss, x, g);
        CHECK_NEAR(tc_item(loss), 2870, 0.01);
        CHECK_NEAR(tc_item(tc_select(g, 0, 1)), 4, 1e-5);
        y = tc_mul_s(g, 2);
        END();
        IS_LINE(g, 20, 2, 2);
        IS_LINE(y, 20, 4, 4);
    }
}

BOTH(a_value_read_before_the_gradient) {
    tc_tensor x = line(tc, 20, 1, 1), g;
    for (int visit = 0; visit < 3; visit++) {
        BEGIN("read_before");
        tc_tensor y = tc_mul(x, x);
        CHECK_NEAR(tc_item(tc_sum_all(y)), 2870, 0.01);
        GRAD(tc_sum_all(tc_mul(y, x)), x, g);
        END();
        for (int i = 0; i < 20; i++) CHECK_NEAR(AT(g, i), 3 * (1 + i) * (1 + i), 1e-2);
    }
}

BOTH(backward_behind_a_value_read) {
    tc_tensor x = line(tc, 20, 1, 1);
    tc_requires_grad(x, 1);
    for (int visit = 1; visit < 4; visit++) {
        BEGIN("backward_behind");
        tc_tensor loss = sum_of_squares(x);
        CHECK_NEAR(tc_item(loss), 2870, 0.01);
        tc_backward(loss);
        END();
        IS_LINE(tc_grad_of(x), 20, 2 * visit, 2 * visit);
    }
}

BOTH(kept_results) {
    tc_tensor x = line(tc, 20, 1, 1), kept[3];
    for (int visit = 0; visit < 3; visit++) {
        tc_tensor g;
        BEGIN("kept");
        GRAD(tc_sum_all(tc_mul_s(tc_mul(x, x), visit + 1)), x, g);
        kept[visit] = tc_keep(g);
        END();
    }
    for (int visit = 0; visit < 3; visit++) {
        IS_LINE(kept[visit], 20, 2 * (visit + 1), 2 * (visit + 1));
        tc_free(kept[visit]);
    }
}

// ---- errors ----
static void works(tc_ctx *tc) {
    tc_tensor x = line(tc, 4, 1, 1), g;
    BEGIN("works");
    GRAD(sum_of_squares(x), x, g);
    END();
    IS_LINE(g, 4, 2, 2);
}

// The call has failed, and so does its region; both say the same.
#define FAILS(call, status, text)                                                          \
    do {                                                                                   \
        BEGIN("fails");                                                                    \
        CHECK_EQ(call, status);                                                            \
        CHECK_EQ(tc_trace_end(tc), status);                                                \
        ERROR(status, text);                                                               \
        works(tc);                                                                         \
    } while (0)

BOTH(outside_of_a_region) {
    tc_tensor x = line(tc, 4, 1, 1), loss = tc_sum_all(x), g = x;
    CHECK_EQ(GRAD(loss, x, g), TC_E_STATE);
    ERROR(TC_E_STATE,
          "tc_grad: there is no graph to derive outside of a region or function");
    CHECK(tc_is_null(g));
    CHECK_EQ(tc_vjp(x, x, &x, 1, &g), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_vjp: there is no graph to derive outside");
    tc_requires_grad(x, 1);
    CHECK_EQ(tc_backward(loss), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_backward: there is no graph to derive outside");
    works(tc);
}

BOTH(dtypes) {
    tc_tensor x = line(tc, 4, 1, 1), i = tc_cast(x, TC_I64), wrt[2], g[2];
    tc_tensor number = tc_sum_all(i), loss = tc_sum_all(x);
    wrt[0] = x, wrt[1] = i;
    FAILS(
        tc_grad(tc_sum_all(x), wrt, 2, g), TC_E_DTYPE,
        "tc_grad: wrt[1] is i64; only floats of 16 bits or more have gradients: cast it first");
    FAILS(GRAD(number, x, g[0]), TC_E_DTYPE, "the first operand is i64; only floats");
    FAILS(tc_backward(number), TC_E_DTYPE, "tc_backward: the first operand is i64");
    FAILS(tc_vjp(i, i, wrt, 1, g), TC_E_DTYPE, "tc_vjp: the first operand is i64");
    CHECK(tc_is_null(g[0]));
    (void)loss;
}

BOTH(null_tensors) {
    tc_tensor x = line(tc, 4, 1, 1), loss = tc_sum_all(x), none = tc_null(), g;
    FAILS(GRAD(loss, none, g), TC_E_NULL, "tc_grad: wrt[0] is a null tensor");
    FAILS(tc_grad(loss, NULL, 1, &g), TC_E_NULL, "tc_grad: wrt is null");
    FAILS(tc_grad(loss, &x, 1, NULL), TC_E_NULL, "tc_grad: out is null");
    FAILS(tc_grad(loss, &x, -1, &g), TC_E_ARG, "tc_grad: n is -1");
    FAILS(tc_vjp(x, none, &x, 1, &g), TC_E_NULL, "tc_vjp: ");
    CHECK_EQ(GRAD(none, x, g), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_grad");
    CHECK_EQ(tc_backward(none), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_backward");
    CHECK_EQ(tc_requires_grad(none, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_requires_grad");
    works(tc);
}

BOTH(sizes) {
    tc_tensor x = line(tc, 4, 1, 1), y = line(tc, 3, 1, 1), g;
    FAILS(GRAD(tc_mul_s(x, 2), x, g), TC_E_SHAPE,
          "tc_grad: the loss is [4], one element is needed; reduce it, or use tc_vjp");
    FAILS(tc_backward(tc_mul_s(x, 2)), TC_E_SHAPE, "tc_backward: the loss is [4]");
    FAILS(tc_vjp(tc_mul_s(x, 2), y, &x, 1, &g), TC_E_SHAPE,
          "tc_vjp: v is f32[3], y f32[4]; they must be alike");
    FAILS(tc_vjp(tc_mul_s(x, 2), tc_cast(x, TC_F64), &x, 1, &g), TC_E_DTYPE,
          "tc_vjp: v is f64[4], y f32[4]; they must be alike");
}

// What the steps tell is found at the region's end.
#define END_FAILS(status, text)                                                            \
    do {                                                                                   \
        CHECK_EQ(tc_trace_end(tc), status);                                                \
        ERROR(status, text);                                                               \
        works(tc);                                                                         \
    } while (0)

BOTH(no_way_to_it) {
    tc_tensor x = line(tc, 20, 1, 1), y = line(tc, 20, 2, 2), g = tc_null();
    BEGIN("no_way");
    GRAD(sum_of_squares(x), y, g);
    END_FAILS(TC_E_ARG, "tc_grad: what is derived does not depend on wrt[0], the f32[");
    BEGIN("sorted");
    tc_tensor order = tc_cast(tc_argsort(x, 0, 0), TC_F32);
    GRAD(tc_sum_all(order), x, g);
    END_FAILS(TC_E_ARG, "does not depend on wrt[0], the f32[");
    BEGIN("written_since");
    tc_tensor loss = sum_of_squares(x);
    tc_add_s_(x, 1);
    GRAD(loss, x, g);
    END_FAILS(TC_E_ARG, "it was written in place at tests/grad/use.c:");
    IS_LINE(x, 20, 1, 1); // nothing was written
    BEGIN("another_view");
    loss = sum_of_squares(x);
    tc_tensor view = tc_slice(x, 0, 0, 10, 1);
    GRAD(loss, view, g);
    END_FAILS(TC_E_ARG, "does not depend on wrt[0], the f32[");
}

// Of several the error names the first that is none, whichever call it was; that of tc_backward is in no list.
BOTH(which_of_several) {
    tc_tensor x = line(tc, 20, 1, 1), y = line(tc, 20, 2, 2), z = line(tc, 20, 0, 1), g[3];
    tc_tensor wrt[3], one = tc_ones_like(x), t[3], v;
    wrt[0] = x, wrt[1] = y, wrt[2] = z, t[0] = t[1] = t[2] = one;
    for (int visit = 0; visit < 2; visit++) {
        BEGIN("grad");
        tc_grad(tc_sum_all(tc_mul(x, y)), wrt, 3, g);
        END_FAILS(TC_E_ARG, "tc_grad: what is derived does not depend on wrt[2], the f32[");
        BEGIN("vjp");
        tc_vjp(tc_mul(x, z), one, wrt, 3, g);
        END_FAILS(TC_E_ARG, "tc_vjp: what is derived does not depend on wrt[1], the f32[");
        BEGIN("jvp");
        tc_jvp(tc_mul(x, y), wrt, t, 3, &v);
        END_FAILS(TC_E_ARG, "tc_jvp: what is derived does not depend on wrt[2], the f32[");
    }
    CHECK_EQ(tc_requires_grad(x, 1), TC_OK);
    BEGIN("backward");
    tc_tensor loss = sum_of_squares(x);
    tc_add_s_(x, 1);
    tc_backward(loss);
    END_FAILS(TC_E_ARG, "tc_backward: what is derived does not depend on the f32[");
}

BOTH(a_loss_that_reaches_no_gradient) {
    tc_tensor w = tc_ones_at(tc, TC_DIMS(2, 3), TC_F32, "model.c", 3),
              x = line(tc, 4, 1, 1);
    tc_tensor wt = tc_permute_at(w, TC_DIMS(1, 0), "model.c", 4);
    for (int visit = 0; visit < 2; visit++) {
        tc_requires_grad(w, 0);
        BEGIN("nothing_learned");
        CHECK_EQ(tc_backward(tc_sum_all(tc_mul(w, w))), TC_E_ARG);
        END_FAILS(TC_E_ARG,
                  "tc_backward: the loss depends on no tensor with tc_requires_grad; "
                  "switch it on for what is learned");
        tc_requires_grad(w, 1);
        BEGIN("not_its_own");
        tc_neg(w);
        CHECK_EQ(tc_backward(sum_of_squares(x)), TC_E_ARG);
        END_FAILS(TC_E_ARG, "the loss depends on no tensor with tc_requires_grad");
        BEGIN("view_from_outside");
        CHECK_EQ(tc_backward(sum_of_squares(wt)), TC_E_ARG);
        END_FAILS(
            TC_E_ARG,
            "but on the tensor of model.c:4, a view of the tensor of model.c:3, which "
            "has it: a view that is made outside of the region");
        IS_LINE(tc_reshape(tc_grad_of(w), TC_DIMS(6)), 6, 0, 0);
    }
    BEGIN("view_from_inside");
    CHECK_EQ(tc_backward(sum_of_squares(tc_t(w))), TC_OK);
    END();
    IS_LINE(tc_reshape(tc_grad_of(w), TC_DIMS(6)), 6, 2, 0);
}

// Ways that nothing is derived through lead to no gradient, as PyTorch has it; beside one that does they do no harm.
static tc_tensor by_detach(tc_ctx *tc, tc_tensor w) { return (void)tc, tc_detach(w); }
static tc_tensor by_view_of_detach(tc_ctx *tc, tc_tensor w) {
    return (void)tc, tc_narrow(tc_reshape(tc_detach(tc_mul_s(w, 2)), TC_DIMS(-1)), 0, 0, 2);
}
static tc_tensor by_no_grad(tc_ctx *tc, tc_tensor w) {
    tc_no_grad_begin(tc);
    tc_tensor y = tc_exp(w);
    tc_no_grad_end(tc);
    return y;
}
static tc_tensor by_view_in_no_grad(tc_ctx *tc, tc_tensor w) {
    tc_no_grad_begin(tc);
    tc_tensor y = tc_narrow(w, 0, 0, 1);
    tc_no_grad_end(tc);
    return tc_exp(y);
}
static tc_tensor by_write_in_no_grad(tc_ctx *tc, tc_tensor w) {
    tc_tensor y = tc_zeros(tc, TC_DIMS(4), TC_F32);
    tc_no_grad_begin(tc);
    tc_copy_(y, w);
    tc_no_grad_end(tc);
    return y;
}
static tc_tensor by_index(tc_ctx *tc, tc_tensor w) {
    return tc_take(line(tc, 4, 0, 1), tc_argsort(w, 0, 0), 0);
}
static tc_tensor by_mask(tc_ctx *tc, tc_tensor w) {
    tc_tensor x = line(tc, 4, 0, 1);
    return tc_where(tc_gt_s(w, 2), x, tc_neg(x));
}

BOTH(ways_that_lead_to_no_gradient) {
    static tc_tensor (*const way[])(tc_ctx *, tc_tensor) = {
        by_detach,           by_view_of_detach, by_no_grad, by_view_in_no_grad,
        by_write_in_no_grad, by_index,          by_mask};
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        tc_tensor w = line(tc, 4, 1, 1), v = line(tc, 4, 1, 1), g;
        char name[20];
        CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
        snprintf(name, sizeof name, "no_way_%d", (int)k);
        for (int visit = 0; visit < 2; visit++) {
            BEGIN(name);
            CHECK_EQ(tc_backward(tc_sum_all(way[k](tc, w))), TC_E_ARG);
            END_FAILS(TC_E_ARG,
                      "has tc_requires_grad, only through what nothing is derived "
                      "through: tc_detach, tc_no_grad_begin, integers or bools");
        }
        snprintf(name, sizeof name, "by_%d", (int)k);
        BEGIN(name);
        GRAD(tc_sum_all(way[k](tc, v)), v, g);
        END_FAILS(TC_E_ARG, "does not depend on wrt[0]");
        IS_LINE(tc_grad_of(w), 4, 0, 0);
        snprintf(name, sizeof name, "beside_%d", (int)k);
        BEGIN(name);
        CHECK_EQ(tc_backward(tc_add(tc_sum_all(way[k](tc, w)), tc_sum_all(w))), TC_OK);
        END();
        IS_LINE(tc_grad_of(w), 4, 1, 0);
    }
    // floor is derived by, with 0
    tc_tensor w = line(tc, 4, 1, 1);
    CHECK_EQ(tc_requires_grad(w, 1), TC_OK);
    BEGIN("floors");
    CHECK_EQ(tc_backward(tc_sum_all(tc_floor(w))), TC_OK);
    END();
    IS_LINE(tc_grad_of(w), 4, 0, 0);
}

// A tensor is told by its name, or by where it was made; and so is the write that made another value of it.
BOTH(what_it_was_not_derived_by) {
    tc_params *p = tc_params_open(tc);
    tc_tensor named = tc_param(p, "fc.weight", TC_DIMS(3), TC_F32, tc_init_ones()), g;
    tc_tensor made = tc_ones_at(tc, TC_DIMS(3), TC_F32, "model.c", 3);
    BEGIN("named");
    GRAD(sum_of_squares(made), named, g);
    END_FAILS(
        TC_E_ARG,
        "does not depend on wrt[0], the f32[3] \"fc.weight\" that it is derived by; is "
        "it the one that was used?");
    BEGIN("made");
    GRAD(sum_of_squares(named), made, g);
    END_FAILS(
        TC_E_ARG,
        "does not depend on wrt[0], the f32[3] of model.c:3 that it is derived by; is it");
    BEGIN("made_inside");
    tc_tensor inside = tc_mul_s_at(named, 2, "model.c", 5);
    GRAD(sum_of_squares(made), inside, g);
    END_FAILS(TC_E_ARG, "the f32[3] of model.c:5 that it is derived by; is it");
    CHECK_EQ(tc_requires_grad(named, 1), TC_OK);
    BEGIN("written");
    tc_tensor loss = sum_of_squares(named);
    tc_add_s__at(made, 1, "model.c", 6); // another one
    tc_add_s__at(named, 1, "model.c", 7);
    tc_backward(loss);
    END_FAILS(
        TC_E_ARG,
        "tc_backward: what is derived does not depend on the f32[3] \"fc.weight\" that it "
        "is derived by; it was written in place at model.c:7, and");
    tc_params_close(p);
}

static tc_status half_run(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    const float *x = (const float *)in[0].data;
    float *y = (float *)out->data;
    for (int64_t i = 0; i < out->spec.dims[0]; i++) y[i] = x[i] / 2;
    return TC_OK;
}

BOTH(an_op_without_a_derivative) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "half_of", op.run = half_run;
    int number = tc_register_op(tc, &op);
    tc_tensor x = line(tc, 20, 1, 1), g = tc_null();
    BEGIN("custom");
    tc_tensor y = tc_custom_at(tc, number, &x, 1, "model.c", 77);
    GRAD(sum_of_squares(y), x, g);
    END_FAILS(TC_E_UNSUPPORTED,
              "is through custom op \"half_of\", at model.c:77, which has no derivative");
    // what lies behind it is derived
    BEGIN("behind_custom");
    y = tc_custom(tc, number, &x, 1);
    GRAD(sum_of_squares(y), y, g);
    END();
    IS_LINE(g, 20, 1, 1);
    // one way that can be derived does not do for one that cannot
    BEGIN("beside_custom");
    y = tc_add(tc_custom(tc, number, &x, 1), x);
    GRAD(tc_sum_all(y), x, g);
    END_FAILS(TC_E_UNSUPPORTED, "which has no derivative");
    BEGIN("detached_custom");
    y = tc_add(tc_detach(tc_custom(tc, number, &x, 1)), x);
    GRAD(tc_sum_all(y), x, g);
    END();
    IS_LINE(g, 20, 1, 0);
    tc_requires_grad(x, 1);
    BEGIN("backward_custom");
    y = tc_add(tc_custom(tc, number, &x, 1), x);
    tc_backward(tc_sum_all(y));
    END_FAILS(TC_E_UNSUPPORTED, "tc_backward: ");
    IS_LINE(tc_grad_of(x), 20, 0, 0);
}

BOTH(what_may_have_a_gradient) {
    tc_tensor x = line(tc, 20, 1, 1), i = tc_cast(x, TC_I32);
    CHECK_EQ(tc_requires_grad(i, 1), TC_E_DTYPE);
    ERROR(
        TC_E_DTYPE,
        "tc_requires_grad: the tensor is i32; only floats of 16 bits or more have gradients: cast it first");
    CHECK(tc_is_null(tc_grad_of(i)));
    FAILS(tc_requires_grad(x, 1), TC_E_STATE, "tc_requires_grad");
    CHECK(tc_is_null(tc_grad_of(x)));
    BEGIN("result");
    tc_tensor y = tc_mul_s(x, 2);
    END();
    CHECK_EQ(tc_requires_grad(y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_keep it first");
    works(tc);
}

static void refused_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    GRAD(sum_of_squares(in[0]), in[*(int *)user], out[0]);
}

BOTH(an_error_in_a_function) {
    int which = 1;
    tc_fn *f = tc_compile(tc, refused_body, &which, sizeof which, NULL);
    tc_tensor in[2], g;
    in[0] = line(tc, 20, 1, 1), in[1] = line(tc, 20, 1, 1);
    for (int call = 0; call < 2; call++) {
        CHECK_EQ(tc_call(f, in, 2, &g, 1), TC_E_ARG);
        ERROR(TC_E_ARG, "does not depend");
        CHECK(tc_is_null(g));
        works(tc);
    }
    which = 0;
    for (int call = 0; call < 3; call++) {
        CALL(f, in, 2, &g, 1);
        IS_LINE(g, 20, 2, 2);
    }
}

// Regions that record nothing have no graph; the error names the stance that records and compiles nothing.
BOTH(without_a_graph) {
    tc_tensor x = line(tc, 4, 1, 1), g;
    tc_options disabled = tc_options_default();
    disabled.disable = 1;
    for (int way = 0; way < 2; way++) {
        if (way) tc_disable_begin(tc);
        tc_trace_begin_at(tc, "disabled", way ? NULL : &disabled, "test.c", 2);
        CHECK_EQ(GRAD(sum_of_squares(x), x, g), TC_E_STATE);
        CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
        ERROR(TC_E_STATE, "no graph to derive");
        if (way) CHECK_EQ(tc_disable_end(tc), TC_OK);
        CHECK_EQ(GRAD(sum_of_squares(x), x, g), TC_E_STATE);
        ERROR(TC_E_STATE, "set TC_STANCE_FORCE_EAGER");
    }
    works(tc);
}
