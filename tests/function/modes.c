// tc_training: what dropout and batch norm do in both modes, that nothing made for one runs in the other, and
// batch norm's numbers and gradients against PyTorch's.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include "batch_norm_torch.h"

enum { C = 3, ALL = 48 };

// tests/tools/batch_norm_torch.py has the same.
static tc_tensor numbers(tc_ctx *tc, tc_dims dims, int seed, double add) {
    double v[ALL];
    int n = 1;
    for (int i = 0; i < dims.rank; i++) n *= (int)dims.size[i];
    for (int i = 0; i < n; i++) v[i] = sin(1.0 + 0.7 * i + 3 * seed) + 0.25 * seed + add;
    return tc_from_data(tc, v, dims, TC_F64);
}

#define NEAR(t, want)   check_near(t, want, TC__COUNT_OF(want), __LINE__)
#define TC__COUNT_OF(a) ((int)(sizeof(a) / sizeof *(a)))
static void check_near(tc_tensor t, const double *want, int n, int at_line) {
    double got[ALL];
    if (tc_numel(t) != n || tc_read(t, got, (size_t)n * sizeof *got)) {
        test_fail(__FILE__, at_line, "not %d numbers", n);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i]))))
            test_fail(__FILE__, at_line, "element %d is %.17g, not %.17g", i, got[i],
                      want[i]);
}

typedef struct norm {
    tc_tensor mean, var, x, weight, bias, seed;
} norm;

static norm make_norm(tc_ctx *tc) {
    norm n;
    n.mean = numbers(tc, TC_DIMS(C), 4, 0), n.var = numbers(tc, TC_DIMS(C), 5, 1);
    n.x = numbers(tc, TC_DIMS(4, C, 2, 2), 0, 0);
    n.weight = numbers(tc, TC_DIMS(C), 1, 0), n.bias = numbers(tc, TC_DIMS(C), 2, 0);
    n.seed = numbers(tc, TC_DIMS(4, C, 2, 2), 3, 0);
    return n;
}

static tc_tensor norm_of(const norm *n, tc_tensor x) {
    return tc_batch_norm_running(x, n->mean, n->var, n->weight, n->bias, 0.3, 1e-5);
}

// out: the result, and its gradients by x, weight and bias.
static void norm_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const norm *n = (const norm *)user;
    tc_tensor wrt[3];
    (void)tc;
    wrt[0] = in[0], wrt[1] = n->weight, wrt[2] = n->bias;
    out[0] = norm_of(n, in[0]);
    tc_grad(tc_sum_all(tc_mul(out[0], n->seed)), wrt, 3, out + 1);
}

BOTH(batch_norm_is_pytorchs) {
    norm n = make_norm(tc);
    tc_tensor out[4];
    tc_fn *f = tc_compile(tc, norm_body, &n, sizeof n, NULL);
    CALL(f, &n.x, 1, out, 4);
    NEAR(out[0], train_y);
    NEAR(out[1], train_x_grad);
    NEAR(out[2], train_weight_grad);
    NEAR(out[3], train_bias_grad);
    NEAR(n.mean, running_mean);
    NEAR(n.var, running_var);
    CHECK_EQ(tc_training(tc, 0), TC_OK);
    for (int i = 0; i < 4; i++) {
        CALL(f, &n.x, 1, out, 4);
        NEAR(out[0], test_y);
        NEAR(out[1], test_x_grad);
        NEAR(out[2], test_weight_grad);
        NEAR(out[3], test_bias_grad);
    }
    NEAR(n.mean, running_mean);
    NEAR(n.var, running_var);
}

// Eager and in a region, the same.
BOTH(batch_norm_eager) {
    norm n = make_norm(tc);
    NEAR(norm_of(&n, n.x), train_y);
    NEAR(n.mean, running_mean);
    NEAR(n.var, running_var);
    tc_training(tc, 0);
    NEAR(norm_of(&n, n.x), test_y);
    tc_training(tc, 1);
    norm again = make_norm(tc);
    for (int i = 0; i < 2; i++) {
        tc_copy_(again.mean, make_norm(tc).mean), tc_copy_(again.var, make_norm(tc).var);
        BEGIN("norm");
        tc_tensor y = norm_of(&again, again.x);
        END();
        NEAR(y, train_y);
        NEAR(again.mean, running_mean);
        NEAR(again.var, running_var);
    }
}

// Statistics of x alone, and of sizes that come at run time: n - 1 is one of them.
BOTH(batch_norm_of_any_batch) {
    norm n = make_norm(tc);
    tc_tensor none = tc_null();
    for (int batch = 2; batch < 6; batch++) {
        tc_tensor x = line(tc, batch * C, 0, 1), mean = tc_zeros(tc, TC_DIMS(C), TC_F32);
        tc_tensor var = tc_zeros(tc, TC_DIMS(C), TC_F32);
        x = tc_reshape(x, TC_DIMS(batch, C));
        tc_training(tc, 1);
        BEGIN("any");
        tc_tensor y = tc_batch_norm_running(x, mean, var, none, none, 1, 0);
        tc_trace_end(tc);
        // x is 0 3 6 ... in channel 0
        double m = 3 * (batch - 1) / 2.0, s = 0;
        for (int i = 0; i < batch; i++) s += (3 * i - m) * (3 * i - m);
        for (int i = 0; i < C; i++) CHECK_NEAR(AT(mean, i), m + i, 1e-5);
        for (int i = 0; i < C; i++) CHECK_NEAR(AT(var, i), s / (batch - 1), 1e-4);
        CHECK_NEAR(AT(y, 0), -m / sqrt(s / batch), 1e-5);
        tc_training(tc, batch % 2);
        CHECK_NEAR(AT(tc_batch_norm_running(x, none, none, none, none, 0, 0), 0),
                   -m / sqrt(s / batch), 1e-5);
    }
    (void)n;
}

// f16 in, f16 out; what is kept stays f32 and is not rounded on the way.
BOTH(batch_norm_of_halves) {
    tc_tensor x = tc_to_f32(tc_reshape(line(tc, 12, 0, 0.25), TC_DIMS(4, C)));
    tc_tensor mean = tc_zeros(tc, TC_DIMS(C), TC_F32),
              var = tc_ones(tc, TC_DIMS(C), TC_F32);
    tc_tensor y = tc_batch_norm_running(tc_cast(x, TC_F16), mean, var, tc_null(), tc_null(),
                                        0.1, 1e-5);
    CHECK_EQ(tc_dtype_of(y), TC_F16);
    CHECK_NEAR(AT(mean, 0), 0.1 * 1.125, 1e-7);
    CHECK_NEAR(AT(var, 1), 0.9 + 0.1 * 0.9375, 1e-6);
    CHECK_NEAR(AT(tc_to_f32(y), 0), -1.125 / sqrt(0.703125 + 1e-5), 1e-3);
}

// What is kept is written by the kernel that normalises; the gradients are in it too, but for what is summed of all.
BOTH(batch_norm_is_one_kernel) {
    tc_tensor x = tc_randn(tc, TC_DIMS(8, 32, 10, 10), TC_F32), wrt[3], g[3];
    tc_tensor mean = tc_zeros(tc, TC_DIMS(32), TC_F32),
              var = tc_ones(tc, TC_DIMS(32), TC_F32);
    wrt[0] = x, wrt[1] = tc_clone(var), wrt[2] = tc_clone(mean);
    for (int derived = 0; derived < 2; derived++) {
        const char *name = derived ? "derived" : "forward";
        tc_trace_begin(tc, name);
        tc_tensor y =
            tc_relu(tc_batch_norm_running(x, mean, var, wrt[1], wrt[2], 0.1, 1e-5));
        if (derived) tc_grad(tc_sum_all(tc_square(y)), wrt, 3, g);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_region_kernels(tc, name), 1 + derived);
    }
}

// A second use of what was kept, in the same region: no gradient comes back through it.
BOTH(what_is_kept_is_detached) {
    norm n = make_norm(tc);
    tc_tensor out, want;
    BEGIN("kept");
    tc_tensor y = tc_sum_all(tc_mul(norm_of(&n, n.x), n.seed));
    tc_tensor extra = tc_sum_all(tc_add(n.mean, n.var));
    tc_grad(tc_add(y, extra), &n.x, 1, &out);
    tc_grad(y, &n.x, 1, &want);
    tc_tensor off = tc_amax_all(tc_abs(tc_sub(out, want)));
    END();
    CHECK_NEAR(tc_item(off), 0, 0);
}

// ---- modes ----

static void drop_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(tc_dropout(in[0], 0.5), 1);
}

static int ones(tc_tensor t) {
    int n = 0;
    for (int i = 0; i < 64; i++) n += AT(t, i) == 1;
    return n;
}

BOTH(a_function_has_both) {
    tc_tensor x = tc_ones(tc, TC_DIMS(64), TC_F32), y;
    tc_fn *f = tc_compile(tc, drop_body, NULL, 0, NULL);
    CHECK_EQ(tc_is_training(tc), 1);
    for (int i = 0; i < 12; i++) {
        int on = i < 6 ? i % 2 : i % 3 == 0;
        CHECK_EQ(tc_training(tc, on), TC_OK);
        CHECK_EQ(tc_is_training(tc), on);
        CALL(f, &x, 1, &y, 1);
        CHECK(on ? ones(y) > 10 && ones(y) < 54 : ones(y) == 0);
        if (i == 1) MISS(f, TC_MISS_TRAINING);
        if (i == 1) CHECK(strstr(tc_miss_text(f), "tc_training was 0, now 1"));
        tc_free(y);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 8); // all but two of each
    CHECK_EQ(tc_explain_counts(tc, "drop_body").programs, 2);
    CHECK(strstr(tc_explain(tc), "tc_training is off"));
}

// The short cut of calls does not ask for the mode: it is off when that changes.
BOTH(between_equal_calls) {
    tc_tensor x = tc_ones(tc, TC_DIMS(64), TC_F32), y;
    tc_fn *f = tc_compile(tc, drop_body, NULL, 0, NULL);
    for (int i = 0; i < 40; i++) {
        int on = i / 8 % 2;
        tc_training(tc, on);
        CALL(f, &x, 1, &y, 1);
        CHECK_EQ(ones(y) > 0, on);
        tc_free(y);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 36);
}

BOTH(a_region_has_both) {
    tc_tensor x = tc_ones(tc, TC_DIMS(64), TC_F32);
    for (int i = 0; i < 8; i++) {
        tc_training(tc, i % 2);
        BEGIN("drop");
        tc_tensor a = tc_add_s(tc_dropout(x, 0.5), 1);
        CHECK_EQ(tc_training(tc, !(i % 2)), TC_OK); // for what is behind it
        tc_tensor b = tc_add_s(tc_dropout(x, 0.5), 1);
        END();
        CHECK_EQ(ones(a) > 0, i % 2);
        CHECK_EQ(ones(b) > 0, !(i % 2));
    }
    CHECK_EQ(tc_explain_counts(tc, "drop").programs, 2);
}

// What it gives when it is off is x, under a name of its own.
BOTH(dropout_that_is_off) {
    tc_tensor x = line(tc, 4, 0, 1);
    tc_training(tc, 0);
    tc_tensor y = tc_dropout(x, 0.5);
    tc_fill_(y, 7);
    CHECK_NEAR(AT(x, 2), 7, 0);
    tc_free(y);
    CHECK_NEAR(AT(x, 2), 7, 0);
    CHECK_EQ(tc_dtype_of(tc_dropout(tc_to_i32(x), 0.5)), TC_F32);
    CHECK_EQ(tc_dtype_of(tc_dropout(tc_cast(x, TC_BF16), 0.5)), TC_BF16);
    CHECK(tc_is_null(tc_dropout(x, 1)));
    ERROR(TC_E_ARG, "dropout: the probability");
    // Nothing is drawn.
    tc_manual_seed(tc, 3);
    double a = tc_item(tc_rand(tc, TC_SCALAR, TC_F32));
    tc_manual_seed(tc, 3);
    tc_dropout(x, 0.5);
    CHECK_NEAR(tc_item(tc_rand(tc, TC_SCALAR, TC_F32)), a, 0);
}

BOTH(a_shared_context_begins_like_its_parent) {
    tc_training(tc, 0);
    tc_ctx *other = tc_open_shared(tc);
    REQUIRE(other);
    CHECK_EQ(tc_is_training(other), 0);
    CHECK_EQ(tc_training(other, 1), TC_OK);
    CHECK_EQ(tc_is_training(tc), 0);
    tc_close(other);
}

// ---- errors ----

static void mode_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    CHECK_EQ(tc_training(tc, 0), TC_E_STATE);
    out[0] = in[0];
}

BOTH(modes_refused) {
    tc_tensor x = tc_ones(tc, TC_DIMS(4), TC_F32), y;
    CHECK_EQ(tc_training(NULL, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_training: the context is NULL");
    CHECK_EQ(tc_is_training(NULL), 0);
    CHECK_EQ(tc_training(tc, 2), TC_E_ARG);
    ERROR(TC_E_ARG, "tc_training: on is 2; 1 or 0 is needed");
    tc_fn *f = tc_compile(tc, mode_body, NULL, 0, NULL);
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_training: called by a function's body");
    CHECK_EQ(tc_is_training(tc), 1);
}

#define REFUSED(item, text, ...)                                                           \
    CHECK(tc_is_null(tc_batch_norm_running(__VA_ARGS__)));                                 \
    ERROR(item, text)

BOTH(batch_norm_refused) {
    tc_tensor none = tc_null(), x = tc_ones(tc, TC_DIMS(4, C), TC_F32);
    tc_tensor m = tc_zeros(tc, TC_DIMS(C), TC_F32), v = tc_ones(tc, TC_DIMS(C), TC_F32);
    tc_tensor two = tc_zeros(tc, TC_DIMS(2), TC_F32), whole = tc_to_i32(m);
    tc_tensor wide = tc_expand(tc_zeros(tc, TC_DIMS(1), TC_F32), TC_DIMS(C));
    for (int on = 0; on < 2; on++) {
        tc_training(tc, on);
        REFUSED(TC_E_SHAPE, "the running_mean is [2], [3]", x, two, v, none, none, 0.1, 0);
        REFUSED(TC_E_SHAPE, "the running_var is [2], [3]", x, m, two, none, none, 0.1, 0);
        REFUSED(TC_E_SHAPE, "the weight is [2], [3]", x, m, v, two, none, 0.1, 0);
        REFUSED(TC_E_SHAPE, "the bias is [2], [3]", x, m, v, none, two, 0.1, 0);
        REFUSED(TC_E_NULL, "running_var is a null tensor", x, m, none, none, none, 0.1, 0);
        REFUSED(TC_E_NULL, "running_mean is a null tensor", x, none, v, none, none, 0.1, 0);
        REFUSED(TC_E_DTYPE, "the running_mean is i32", x, whole, v, none, none, 0.1, 0);
        REFUSED(TC_E_ALIAS, "expanded", x, m, wide, none, none, 0.1, 0);
        REFUSED(TC_E_ARG, "momentum is 2; 0 to 1", x, m, v, none, none, 2, 0);
        REFUSED(TC_E_ARG, "momentum is nan", x, m, v, none, none, NAN, 0);
        REFUSED(TC_E_RANK, "[N, C, ...]", m, m, v, none, none, 0.1, 0);
        REFUSED(TC_E_NULL, "", none, m, v, none, none, 0.1, 0);
    }
    tc_tensor one = tc_narrow(x, 0, 0, 1);
    REFUSED(TC_E_SHAPE, "has 1 elements per channel", one, m, v, none, none, 0.1, 0);
    tc_training(tc, 0);
    CHECK(!tc_is_null(tc_batch_norm_running(one, m, v, none, none, 0.1, 1e-5)));
    for (int i = 0; i < C; i++) CHECK_NEAR(AT(m, i), 0, 0);
    for (int i = 0; i < C; i++) CHECK_NEAR(AT(v, i), 1, 0);
}
