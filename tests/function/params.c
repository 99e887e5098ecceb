// First values against formulas by hand over the same draws; sets of parameters: names, lists, gradients, tables; and
// their files, strict or not.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

static double values[1 << 16];

// All elements of t, in double. Their number.
static int read_all(tc_tensor t) {
    int n = (int)tc_numel(t);
    CHECK_EQ(tc_read(tc_to_f64(t), values, (size_t)n * sizeof *values), TC_OK);
    return n;
}

static double mean_of(int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += values[i];
    return s / n;
}

static double deviation_of(int n) {
    double m = mean_of(n), s = 0;
    for (int i = 0; i < n; i++) s += (values[i] - m) * (values[i] - m);
    return sqrt(s / n);
}

// ---- first values ----

// Of the draws that the stream gives first: what each becomes.
typedef struct formula {
    const char *name;
    tc_init init;
    int normal;
    double scale, add;
} formula;

// [8, 4, 3, 3]: fan in 36, out 72.
static const tc_dims weight = {4, {8, 4, 3, 3}};

BOTH(drawn_numbers) {
    double gain = tc_gain(TC_GAIN_LEAKY_RELU, sqrt(5)), third = sqrt(1.0 / 3);
    const formula all[] = {
        {"uniform", tc_init_uniform(-2, 3), 0, 5, -2},
        {"normal", tc_init_normal(1, 0.5), 1, 0.5, 1},
        {"kaiming uniform", tc_init_kaiming_uniform(TC_FAN_IN, gain), 0,
         2 * sqrt(3) * third / 6, -sqrt(3) * third / 6},
        {"kaiming uniform of out", tc_init_kaiming_uniform(TC_FAN_OUT, 2), 0,
         4 * sqrt(3 / 72.0), -2 * sqrt(3 / 72.0)},
        {"kaiming normal", tc_init_kaiming_normal(TC_FAN_IN, sqrt(2)), 1, sqrt(2) / 6, 0},
        {"kaiming normal of out", tc_init_kaiming_normal(TC_FAN_OUT, 1), 1, 1 / sqrt(72),
         0},
        {"xavier uniform", tc_init_xavier_uniform(1), 0, 2 * sqrt(6 / 108.0),
         -sqrt(6 / 108.0)},
        {"xavier normal", tc_init_xavier_normal(5.0 / 3), 1, 5.0 / 3 * sqrt(2 / 108.0), 0},
    };
    static const tc_dtype dtypes[] = {TC_F32, TC_F64, TC_F16, TC_BF16};
    static const double within[] = {1e-6, 1e-14, 2e-3, 2e-2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int d = 0; d < 4; d++) {
            const formula *f = &all[i];
            double drawn[288];
            tc_dtype from = dtypes[d] == TC_F64 ? TC_F64 : TC_F32;
            tc_manual_seed(tc, 5);
            int n = read_all(f->normal ? tc_randn(tc, weight, from)
                                       : tc_rand(tc, weight, from));
            for (int k = 0; k < n; k++) drawn[k] = values[k] * f->scale + f->add;
            tc_manual_seed(tc, 5);
            tc_tensor t = tc_empty(tc, weight, dtypes[d]);
            CHECK_EQ(tc_init_(t, f->init).id, t.id);
            read_all(t);
            for (int k = 0; k < n; k++)
                if (fabs(values[k] - drawn[k]) > within[d] * (1 + fabs(drawn[k])))
                    FAIL("%s: %g, not %g", f->name, values[k], drawn[k]);
        }
}

// P(N < x)
static double below(double x) { return erfc(-x / sqrt(2)) / 2; }

// Where that is p, by bisection.
static double normal_below(double p) {
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (below(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

BOTH(truncated_normals) {
    static const double bounds[][4] = {// mean, deviation, low, high
                                       {0, 1, -2, 2},
                                       {0, 0.02, -2, 2},
                                       {1, 2, 0.5, 5},
                                       {0, 1, -7, -4},
                                       {-1, 3, -1, -1}};
    enum { N = 2000 };
    static double drawn[N];
    for (int b = 0; b < 5; b++) {
        const double *w = bounds[b];
        tc_manual_seed(tc, 9);
        read_all(tc_rand(tc, TC_DIMS(N), TC_F64));
        memcpy(drawn, values, sizeof drawn);
        tc_manual_seed(tc, 9);
        tc_tensor t = tc_empty(tc, TC_DIMS(N), TC_F64);
        CHECK(!tc_is_null(tc_init_(t, tc_init_trunc_normal(w[0], w[1], w[2], w[3]))));
        read_all(t);
        double low = below((w[2] - w[0]) / w[1]), high = below((w[3] - w[0]) / w[1]);
        for (int i = 0; i < N; i++) {
            double want = w[0] + w[1] * normal_below(low + (high - low) * drawn[i]);
            if (want < w[2]) want = w[2];
            if (want > w[3]) want = w[3];
            // erf near -1 has few bits of what is left
            if (!(fabs(values[i] - want) <= (b == 3 ? 1e-9 : 1e-12) * (1 + fabs(want))))
                FAIL("bounds %d: %.17g, not %.17g", b, values[i], want);
        }
    }
    // The far tail, where the third of its formulas is used.
    tc_tensor far = tc_empty(tc, TC_DIMS(50), TC_F32);
    tc_init_(far, tc_init_trunc_normal(0, 1, -8, -6));
    int n = read_all(far);
    for (int i = 0; i < n; i++) CHECK(values[i] >= -8 && values[i] <= -6);
}

TEST(moments) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor t = tc_empty(tc, TC_DIMS(256, 256), TC_F32);
    tc_manual_seed(tc, 1);
    tc_init_(t, tc_init_xavier_uniform(1));
    int n = read_all(t);
    CHECK_NEAR(mean_of(n), 0, 2e-3);
    CHECK_NEAR(deviation_of(n), sqrt(2 / 512.0), 1e-3);
    tc_init_(t, tc_init_trunc_normal(0, 1, -2, 2));
    read_all(t);
    CHECK_NEAR(deviation_of(n), 0.8796, 5e-3); // of torch.nn.init.trunc_normal_
    tc_close(tc);
}

BOTH(constants_and_repeats) {
    static const tc_dtype dtypes[] = {TC_F32, TC_I32, TC_BOOL, TC_BF16};
    for (int d = 0; d < 4; d++) {
        tc_tensor t = tc_empty(tc, TC_DIMS(3), dtypes[d]);
        tc_init_(t, tc_init_ones());
        CHECK_NEAR(tc_item(tc_sum_all(tc_to_f32(t))), 3, 0);
        tc_init_(t, tc_init_zeros());
        CHECK_NEAR(tc_item(tc_sum_all(tc_to_f32(t))), 0, 0);
    }
    tc_tensor t = tc_zeros(tc, TC_DIMS(2, 8), TC_F32);
    tc_tensor row = tc_select(t, 0, 1); // a view
    tc_init_(row, tc_init_constant(2.5));
    CHECK_NEAR(AT(t, 7), 0, 0);
    CHECK_NEAR(AT(t, 8), 2.5, 0);
    double first[8];
    for (int i = 0; i < 2; i++) {
        tc_manual_seed(tc, 77);
        tc_init_(row, tc_init_normal(0, 1));
        for (int k = 0; k < 8; k++) {
            if (i) CHECK_NEAR(AT(row, k), first[k], 0);
            first[k] = AT(row, k);
        }
    }
    // In a region, another draw at each visit.
    for (int i = 0; i < 3; i++) {
        BEGIN("init");
        tc_init_(row, tc_init_uniform(0, 1));
        END();
        CHECK(AT(row, 0) != first[0]);
        first[0] = AT(row, 0);
    }
    // Of no elements.
    tc_tensor none = tc_empty(tc, TC_DIMS(0, 4), TC_F32);
    CHECK(!tc_is_null(tc_init_(none, tc_init_kaiming_normal(TC_FAN_OUT, 1))));
}

TEST(gains) { // of torch.nn.init.calculate_gain
    CHECK_NEAR(tc_gain(TC_GAIN_LINEAR, 0), 1, 0);
    CHECK_NEAR(tc_gain(TC_GAIN_SIGMOID, 0), 1, 0);
    CHECK_NEAR(tc_gain(TC_GAIN_TANH, 0), 1.6666666666666667, 1e-15);
    CHECK_NEAR(tc_gain(TC_GAIN_RELU, 0), 1.4142135623730951, 1e-15);
    CHECK_NEAR(tc_gain(TC_GAIN_LEAKY_RELU, 0.01), 1.4141428569978354, 1e-15);
    CHECK_NEAR(tc_gain(TC_GAIN_LEAKY_RELU, sqrt(5)), 0.5773502691896257, 1e-15);
    CHECK_NEAR(tc_gain(TC_GAIN_SELU, 0), 0.75, 0);
}

#define REFUSED(item, text, t, ...)                                                        \
    CHECK(tc_is_null(tc_init_(t, __VA_ARGS__)));                                           \
    ERROR(item, text)

BOTH(init_refused) {
    tc_tensor v = tc_zeros(tc, TC_DIMS(3), TC_F32), m = tc_zeros(tc, TC_DIMS(3, 2), TC_F32);
    tc_tensor whole = tc_zeros(tc, TC_DIMS(3, 2), TC_I32);
    REFUSED(TC_E_RANK, "the tensor is [3]; fans are of [out, in, ...]", v,
            tc_init_xavier_normal(1));
    REFUSED(TC_E_DTYPE, "the tensor is i32; random numbers are for floats", whole,
            tc_init_normal(0, 1));
    REFUSED(TC_E_ARG, "uniform numbers need low <= high, got 2 and 1", m,
            tc_init_uniform(2, 1));
    REFUSED(TC_E_ARG, "uniform numbers", m, tc_init_uniform(NAN, 1));
    REFUSED(TC_E_ARG, "deviation must not be negative", m, tc_init_normal(0, -1));
    REFUSED(TC_E_ARG, "above 0 and low <= high", m, tc_init_trunc_normal(0, 0, -1, 1));
    REFUSED(TC_E_ARG, "above 0 and low <= high", m, tc_init_trunc_normal(0, 1, 1, -1));
    REFUSED(TC_E_ARG, "gain must not be negative", m,
            tc_init_kaiming_uniform(TC_FAN_IN, -1));
    tc_init none = tc_init_zeros();
    none.kind = (tc_init_kind)77;
    REFUSED(TC_E_ARG, "77 is no tc_init_kind", m, none);
    REFUSED(TC_E_ALIAS, "expanded", tc_expand(v, TC_DIMS(2, 3)), tc_init_ones());
    REFUSED(TC_E_NULL, "", tc_null(), tc_init_ones());
    CHECK_NEAR(tc_item(tc_sum_all(m)), 0, 0);
}

// ---- sets ----

static tc_params *small_set(tc_ctx *tc) {
    tc_params *p = tc_params_open(tc);
    CHECK(p);
    tc_param(p, "fc.weight", TC_DIMS(2, 3), TC_F32, tc_init_constant(2));
    tc_param(p, "fc.bias", TC_DIMS(2), TC_F32, tc_init_zeros());
    tc_param_buffer(p, "norm.mean", TC_DIMS(2), TC_F64, tc_init_ones());
    tc_param(p, "steps", TC_SCALAR, TC_I64, tc_init_constant(7));
    return p;
}

BOTH(names_and_numbers) {
    tc_params *p = small_set(tc);
    CHECK_EQ(tc_params_count(p), 4);
    CHECK_EQ(tc_params_elements(p), 11);
    CHECK_EQ(tc_params_bytes(p), 24 + 8 + 16 + 8);
    CHECK_STR(tc_params_name(p, 1), "fc.bias");
    CHECK(!tc_params_name(p, 4) && !tc_params_name(p, -1));
    CHECK(tc_is_null(tc_params_tensor(p, 4)));
    tc_tensor w = tc_params_find(p, "fc.weight");
    CHECK_EQ(w.id, tc_params_tensor(p, 0).id);
    CHECK(tc_is_null(tc_params_find(p, "fc")));
    CHECK_EQ(tc_param(p, "fc.weight", TC_DIMS(2, 3), TC_F32, tc_init_zeros()).id, w.id);
    CHECK_NEAR(AT(w, 5), 2, 0); // as it was
    CHECK(!tc_is_null(tc_grad_of(w)));
    CHECK(tc_is_null(tc_grad_of(tc_params_find(p, "norm.mean"))));
    CHECK(tc_is_null(tc_grad_of(tc_params_find(p, "steps"))));
    CHECK_EQ(tc_item_i64(tc_params_find(p, "steps")), 7);
    // Many, to grow; all are found.
    char name[32];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "layer%d", i);
        tc_param_buffer(p, name, TC_SCALAR, TC_F32, tc_init_constant(i));
    }
    for (int i = 0; i < 500; i += 7) {
        snprintf(name, sizeof name, "layer%d", i);
        CHECK_NEAR(tc_item(tc_params_find(p, name)), i, 0);
    }
    CHECK_EQ(tc_params_count(NULL), 0);
    ERROR(TC_E_NULL, "tc_params_count: ");
    CHECK_EQ(tc_params_elements(NULL) + tc_params_bytes(NULL), 0);
    ERROR(TC_E_NULL, "tc_params_elements: ");
}

// No scope ends them; tc_params_close does.
BOTH(who_owns_them) {
    tc_scope_begin(tc);
    tc_params *p = small_set(tc);
    tc_tensor w = tc_params_find(p, "fc.weight"), g = tc_grad_of(w);
    tc_scope_end(tc);
    CHECK_NEAR(AT(w, 0), 2, 0);
    CHECK_NEAR(AT(g, 0), 0, 0);
    tc_params_close(p);
    CHECK_EQ(tc_numel(w), -1);
    ERROR(TC_E_DEAD, "freed with its tc_params");
    CHECK_EQ(tc_numel(g), -1);
    ERROR(TC_E_DEAD, "");
    tc_params_close(NULL);
    small_set(tc); // and tc_close closes what is open
}

typedef struct net {
    tc_params *p, *state;
    const tc_tensor *avg, *sq;
    tc_tensor step, seen;
} net;

// Looks its weights up by name, as code does that has no struct of them.
static tc_tensor forward(tc_params *p, tc_tensor x) {
    tc_tensor w = tc_param(p, "w", TC_DIMS(1, 4), TC_F32, tc_init_xavier_uniform(1));
    tc_tensor b = tc_param(p, "b", TC_DIMS(1), TC_F32, tc_init_zeros());
    return tc_linear(x, w, b);
}

static void train_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const net *n = (const net *)user;
    const tc_tensor *w, *g;
    (void)tc;
    tc_params_zero_grad(n->p);
    out[0] = tc_mse_loss(forward(n->p, in[0]), in[1]);
    tc_backward(out[0]);
    int count = tc_params_list(n->p, &w, &g);
    tc_clip_grad_norm_(g, count, 10, 2);
    tc_adamw_list_(w, g, n->avg, n->sq, count, n->step, 0.05, 0.9, 0.999, 1e-8, 0);
}

BOTH(a_set_is_trained) {
    net n;
    n.p = tc_params_open(tc), n.state = tc_params_open(tc);
    tc_manual_seed(tc, 4);
    tc_tensor in[2], loss;
    in[0] = tc_randn(tc, TC_DIMS(32, 4), TC_F32);
    in[1] = tc_add_s(tc_sum_dims(in[0], TC_DIMS(1), TC_KEEPDIM), 3);
    forward(n.p, in[0]); // makes them
    n.avg = tc_params_state(n.p, n.state, "exp_avg");
    n.sq = tc_params_state(n.p, n.state, "exp_avg_sq");
    n.step = tc_param_buffer(n.state, "step", TC_SCALAR, TC_F32, tc_init_zeros());
    CHECK_EQ(tc_params_count(n.state), 5);
    CHECK_STR(tc_params_name(n.state, 1), "exp_avg.b");
    CHECK(tc_params_state(n.p, n.state, "exp_avg") == n.avg);
    tc_fn *f = tc_compile(tc, train_body, &n, sizeof n, NULL);
    double first = 0, last = 0;
    for (int i = 0; i < 300; i++) {
        CALL(f, in, 2, &loss, 1);
        last = tc_item(loss), first = i ? first : last;
        tc_free(loss);
    }
    CHECK(first > 1 && last < 1e-3);
    CHECK_NEAR(tc_item(tc_params_find(n.p, "b")), 3, 0.05);
    CHECK_EQ(tc_stats_get(tc).skips, 298);
}

BOTH(lists_follow_who_has_a_gradient) {
    const tc_tensor *w, *g;
    tc_params *p = small_set(tc);
    CHECK_EQ(tc_params_list(p, &w, &g), 2);
    CHECK_EQ(w[1].id, tc_params_find(p, "fc.bias").id);
    CHECK_EQ(g[1].id, tc_grad_of(w[1]).id);
    tc_fill_(g[1], 3);
    CHECK_EQ(tc_params_zero_grad(p), TC_OK);
    CHECK_NEAR(AT(g[1], 0), 0, 0);
    tc_requires_grad(w[0], 0);
    CHECK_EQ(tc_params_list(p, &w, NULL), 1);
    CHECK_EQ(w[0].id, tc_params_find(p, "fc.bias").id);
    CHECK_EQ(tc_params_list(p, NULL, NULL), 1);
    // In a region too.
    tc_fill_(tc_grad_of(w[0]), 5);
    BEGIN("zero");
    CHECK_EQ(tc_params_zero_grad(p), TC_OK);
    END();
    CHECK_NEAR(AT(tc_grad_of(w[0]), 1), 0, 0);
}

// ---- frozen and thawed ----

// Momentum by hand: v = 0.5 v + g, w -= 0.1 v, with gradients of 1.
typedef struct by_hand {
    double w, v;
} by_hand;

static void hand_step(by_hand *b) { b->v = 0.5 * b->v + 1, b->w -= 0.1 * b->v; }

static void list_step(tc_ctx *tc, tc_params *p, const tc_tensor *velocity) {
    const tc_tensor *w, *g;
    int n = tc_params_list(p, &w, &g);
    BEGIN("step");
    for (int i = 0; i < n; i++) tc_fill_(g[i], 1);
    CHECK_EQ(tc_sgd_list_(w, g, velocity, n, 0.1, 0.5, 0, 0), TC_OK);
    END();
}

// What the first n states of an array are called in their set, "a, c".
static const char *names_in(tc_params *state, const tc_tensor *all, int n) {
    static char text[256];
    *text = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < tc_params_count(state); k++)
            if (tc_params_tensor(state, k).id == all[i].id)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                         i ? ", " : "", tc_params_name(state, k));
    return text;
}

static tc_params *three(tc_ctx *tc) { // of one size, so that states fit each
    tc_params *p = tc_params_open(tc);
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) tc_param(p, names[i], TC_DIMS(4), TC_F32, tc_init_ones());
    return p;
}

BOTH(states_follow_the_list) {
    tc_params *p = three(tc), *state = tc_params_open(tc);
    tc_tensor a = tc_params_find(p, "a"), b = tc_params_find(p, "b");
    const tc_tensor *m = tc_params_state(p, state, "m"), *w;
    by_hand hand[3] = {{1, 0}, {1, 0}, {1, 0}};
    // Which are frozen, of a, b, c, in each of these rounds of steps.
    static const int frozen[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 0}};
    static const char *const names[] = {"m.a, m.b, m.c", "m.b, m.c", "m.c", "m.a, m.c",
                                        "m.a, m.b, m.c"};
    for (int r = 0; r < 5; r++) {
        for (int i = 0; i < 3; i++) tc_requires_grad(tc_params_tensor(p, i), !frozen[r][i]);
        for (int k = 0; k < 3; k++) {
            list_step(tc, p, m);
            for (int i = 0; i < 3; i++)
                if (!frozen[r][i]) hand_step(&hand[i]);
        }
        CHECK_STR(names_in(state, m, tc_params_list(p, NULL, NULL)), names[r]);
        for (int i = 0; i < 3; i++) {
            tc_tensor t = tc_params_tensor(p, i);
            CHECK_NEAR(AT(t, 3), hand[i].w, 1e-5);
        }
        CHECK(tc_params_state(p, state, "m") == m);
    }
    CHECK_EQ(tc_params_count(state), 3);
    // A number of before the freeze is an error, not a step of others.
    CHECK_EQ(tc_params_list(p, &w, NULL), 3);
    tc_requires_grad(a, 0);
    CHECK_EQ(tc_params_list(p, NULL, NULL), 2);
    CHECK(tc_is_null(w[2]) && tc_is_null(m[2]));
    tc_requires_grad(a, 1), tc_requires_grad(b, 0);
    CHECK_EQ(tc_params_zero_grad(p), TC_OK); // which changes no array
    CHECK_STR(names_in(state, m, 2), "m.b, m.c");
}

// Several arrays, of sets that are closed in either order; thawed ones that never had a state; parameters added.
BOTH(several_states_follow) {
    tc_params *p = three(tc), *q = three(tc), *s = tc_params_open(tc),
              *u = tc_params_open(tc);
    tc_requires_grad(tc_params_find(p, "b"), 0);
    const tc_tensor *m = tc_params_state(p, s, "m"), *v = tc_params_state(p, s, "v");
    const tc_tensor *other = tc_params_state(p, u, "m"), *of_q = tc_params_state(q, s, "m");
    CHECK(m != v && m != other && m != of_q);
    CHECK_STR(names_in(s, v, 2), "v.a, v.c");
    tc_requires_grad(tc_params_find(p, "b"), 1);
    BEGIN("inside");
    CHECK_EQ(tc_params_list(p, NULL, NULL), -1); // v.b would be made
    CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_params_list: a region is open");
    CHECK_EQ(tc_params_list(p, NULL, NULL), 3);
    CHECK_STR(names_in(s, m, 3), "m.a, m.b, m.c");
    CHECK_STR(names_in(s, v, 3), "v.a, v.b, v.c");
    CHECK_STR(names_in(u, other, 3), "m.a, m.b, m.c");
    CHECK_STR(names_in(s, of_q, 3), "m.a, m.b, m.c");
    tc_params_close(u); // m and v go on
    tc_requires_grad(tc_params_find(p, "a"), 0);
    CHECK_EQ(tc_params_list(p, NULL, NULL), 2);
    CHECK_STR(names_in(s, v, 2), "v.b, v.c");
    CHECK_STR(names_in(s, of_q, 3), "m.a, m.b, m.c");
    char name[32];
    for (int i = 0; i < 70; i++) { // 3 and 64 have room
        snprintf(name, sizeof name, "more%d", i);
        tc_param(p, name, TC_DIMS(4), TC_F32, tc_init_ones());
        int n = tc_params_list(p, NULL, NULL);
        if (i < 68) {
            CHECK_EQ(n, i + 3);
            CHECK_STR(names_in(s, v + n - 1, 1) + 2, name);
        } else {
            CHECK_EQ(n, -1);
            ERROR(TC_E_STATE, "has no room for 7");
        }
    }
    const tc_tensor *larger = tc_params_state(p, s, "m");
    CHECK(larger && larger != m && tc_is_null(m[0]));
    CHECK(tc_params_state(p, s, "v") != v);
    CHECK_EQ(tc_params_list(p, NULL, NULL), 72);
    CHECK_STR(names_in(s, larger + 71, 1), "m.more69");
    tc_params_close(p);
    CHECK(tc_is_null(larger[0]));
    CHECK_EQ(tc_params_list(q, NULL, NULL), 3);
}

// Saved while one is frozen, loaded into sets where it is frozen, and thawed there.
BOTH(frozen_states_are_saved) {
    char folder[] = "/tmp/tc_params_XXXXXX", file[64];
    by_hand a = {1, 0}, b = {1, 0};
    REQUIRE(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/s.safetensors", folder);
    tc_params *p = three(tc), *state = tc_params_open(tc), *again = tc_params_open(tc);
    const tc_tensor *m = tc_params_state(p, state, "m");
    list_step(tc, p, m), hand_step(&a), hand_step(&b);
    tc_requires_grad(tc_params_find(p, "a"), 0);
    list_step(tc, p, m), hand_step(&b);
    CHECK_EQ(tc_params_save(state, file), TC_OK);
    tc_requires_grad(tc_params_find(p, "a"), 1);
    m = tc_params_state(p, again, "m");
    tc_requires_grad(tc_params_find(p, "a"), 0);
    CHECK_EQ(tc_params_load(again, file, 0), TC_OK);
    list_step(tc, p, m), hand_step(&b);
    tc_requires_grad(tc_params_find(p, "a"), 1);
    list_step(tc, p, m), hand_step(&a), hand_step(&b);
    CHECK_NEAR(AT(tc_params_find(p, "a"), 0), a.w, 1e-5);
    CHECK_NEAR(AT(tc_params_find(p, "b"), 0), b.w, 1e-5);
    CHECK_NEAR(AT(m[0], 0), a.v, 1e-5);
    unlink(file), rmdir(folder);
}

BOTH(a_table) {
    tc_params *p = small_set(tc);
    tc_requires_grad(tc_params_find(p, "fc.bias"), 0);
    CHECK_STR(tc_params_text(p),
              "name       dtype  sizes       elements           bytes\n"
              "fc.weight  f32    [2, 3]             6              24  trained\n"
              "fc.bias    f32    [2]                2               8  fixed\n"
              "norm.mean  f64    [2]                2              16  buffer\n"
              "steps      i64    []                 1               8  fixed\n"
              "total                               11              56\n"
              "4 tensors, 6 elements trained\n");
    tc_free(tc_params_find(p, "norm.mean"));
    CHECK(strstr(tc_params_text(p), "norm.mean  freed"));
    CHECK_STR(tc_params_text(NULL), "");
    ERROR(TC_E_NULL, "tc_params_text: ");
}

// Between devices: the host alone has one. tests/cuda/params.c has others.
BOTH(to_where_they_are) {
    tc_params *p = small_set(tc);
    tc_tensor w = tc_params_find(p, "fc.weight");
    CHECK_EQ(tc_params_to(p, "cpu"), TC_OK);
    CHECK_NEAR(AT(w, 0), 2, 0);
    CHECK_EQ(tc_params_to(p, "moon:0"), TC_E_DEVICE);
    ERROR(TC_E_DEVICE, "moon:0");
    CHECK_EQ(tc_params_to(p, NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "");
    CHECK_NEAR(AT(w, 0), 2, 0);
}

BOTH(sets_refused) {
    const tc_tensor *w;
    tc_params *p = small_set(tc), *other = tc_params_open(tc);
    tc_init zeros = tc_init_zeros();
    CHECK(!tc_params_open(NULL));
    ERROR(TC_E_NULL, "tc_params_open: ");
    CHECK(tc_is_null(tc_param(p, "fc.weight", TC_DIMS(3, 2), TC_F32, zeros)));
    ERROR(TC_E_SHAPE, "tc_param: \"fc.weight\" is f32[2, 3], f32[3, 2] is asked for");
    CHECK(tc_is_null(tc_param(p, "fc.weight", TC_DIMS(6), TC_F32, zeros)));
    ERROR(TC_E_SHAPE, "f32[6] is asked for");
    CHECK(tc_is_null(tc_param(p, "fc.weight", TC_DIMS(2, 3), TC_F64, zeros)));
    ERROR(TC_E_DTYPE, "\"fc.weight\" is f32[2, 3], f64[2, 3] is asked for");
    CHECK(tc_is_null(tc_param_buffer(p, "fc.weight", TC_DIMS(2, 3), TC_F32, zeros)));
    ERROR(TC_E_ARG, "there as a parameter; use tc_param");
    CHECK(tc_is_null(tc_param(p, "norm.mean", TC_DIMS(2), TC_F64, zeros)));
    ERROR(TC_E_ARG, "there as a buffer; use tc_param_buffer");
    CHECK(tc_is_null(tc_param(p, NULL, TC_DIMS(2), TC_F32, zeros)));
    ERROR(TC_E_NULL, "name is NULL");
    CHECK(tc_is_null(tc_param(p, "", TC_DIMS(2), TC_F32, zeros)));
    ERROR(TC_E_ARG, "the name \"\" cannot be saved");
    CHECK(tc_is_null(tc_param(p, "__metadata__", TC_DIMS(2), TC_F32, zeros)));
    ERROR(TC_E_ARG, "cannot be saved");
    CHECK(tc_is_null(tc_param(p, "a\xff", TC_DIMS(2), TC_F32, zeros)));
    ERROR(TC_E_ARG, "the name is no UTF-8");
    CHECK(tc_is_null(tc_param(p, "x", TC_DIMS(-2), TC_F32, zeros)));
    ERROR(TC_E_SHAPE, "negative");
    CHECK(tc_is_null(tc_param(p, "x", TC_DIMS(2), (tc_dtype)99, zeros)));
    ERROR(TC_E_DTYPE, "99 is no dtype");
    CHECK(tc_is_null(tc_param(p, "x", TC_DIMS(2), TC_F32, tc_init_xavier_normal(1))));
    ERROR(TC_E_RANK, "fans are of");
    CHECK(tc_is_null(tc_param(NULL, "x", TC_DIMS(2), TC_F32, zeros)));
    ERROR(TC_E_NULL, "tc_param: ");
    CHECK_EQ(tc_params_count(p), 4); // nothing was added
    // What is there is found in a region; what is not is not made there.
    BEGIN("inside");
    CHECK(!tc_is_null(tc_param(p, "fc.bias", TC_DIMS(2), TC_F32, zeros)));
    CHECK(tc_is_null(tc_param(p, "x", TC_DIMS(2), TC_F32, zeros)));
    CHECK_EQ(tc_params_to(p, "cpu"), TC_E_STATE);
    CHECK_EQ(tc_params_load(p, "/nowhere", 0), TC_E_STATE);
    CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_param: a region is open, \"inside\"");
    CHECK(!tc_params_state(p, NULL, "m"));
    ERROR(TC_E_NULL, "state is NULL");
    CHECK(!tc_params_state(p, other, NULL));
    ERROR(TC_E_NULL, "prefix is NULL");
    CHECK(!tc_params_state(p, p, "m"));
    ERROR(TC_E_ARG, "state is the set of the parameters");
    CHECK(!tc_params_state(NULL, p, "m"));
    ERROR(TC_E_NULL, "tc_params_state: ");
    CHECK_EQ(tc_params_list(NULL, &w, NULL), -1);
    ERROR(TC_E_NULL, "tc_params_list: ");
    CHECK(!w);
    CHECK_EQ(tc_params_zero_grad(NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_params_zero_grad: ");
    CHECK_EQ(tc_params_to(NULL, "cpu"), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_params_to: ");
    // One that somebody has freed.
    tc_free(tc_params_find(p, "fc.bias"));
    CHECK_EQ(tc_params_list(p, &w, NULL), -1);
    ERROR(TC_E_DEAD, "tc_params_list: \"fc.bias\" was freed");
    CHECK_EQ(tc_params_zero_grad(p), TC_E_DEAD);
    ERROR(TC_E_DEAD, "\"fc.bias\" was freed");
    CHECK_EQ(tc_params_to(p, "cpu"), TC_E_DEAD);
    ERROR(TC_E_DEAD, "");
    CHECK(tc_is_null(tc_param(p, "fc.bias", TC_DIMS(2), TC_F32, zeros)));
    ERROR(TC_E_DEAD, "\"fc.bias\" was freed; the set frees it");
}

// ---- bodies that ask ----

// The squares of all that is trained, and how many tensors there are.
static void penalty_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_params *p = *(tc_params **)user;
    const tc_tensor *w;
    (void)tc;
    int n = tc_params_list(p, &w, NULL);
    out[0] = tc_mul_s(in[0], tc_params_count(p));
    for (int i = 0; i < n; i++) out[0] = tc_add(out[0], tc_sum_all(tc_square(w[i])));
}

static double penalty(tc_fn *f, tc_tensor x) {
    tc_tensor y = tc_null();
    CALL(f, &x, 1, &y, 1);
    double v = tc_item(y);
    if (y.id) tc_free(y);
    return v;
}

BOTH(bodies_see_what_changes) {
    tc_params *p = small_set(tc);
    tc_tensor x = tc_full(tc, TC_SCALAR, 100, TC_F32), w = tc_params_find(p, "fc.weight");
    tc_tensor b = tc_params_find(p, "fc.bias");
    tc_fn *f = tc_compile(tc, penalty_body, &p, sizeof p, NULL);
    tc_fill_(b, 1);
    for (int i = 0; i < 4; i++) CHECK_NEAR(penalty(f, x), 400 + 6 * 4 + 2, 0);
    CHECK_EQ(tc_stats_get(tc).skips, 2);
    tc_param(p, "more", TC_DIMS(3), TC_F32, tc_init_constant(3));
    for (int i = 0; i < 4; i++) CHECK_NEAR(penalty(f, x), 500 + 6 * 4 + 2 + 27, 0);
    tc_param_buffer(p, "none", TC_DIMS(3), TC_F32, tc_init_ones());
    for (int i = 0; i < 4; i++) CHECK_NEAR(penalty(f, x), 600 + 6 * 4 + 2 + 27, 0);
    tc_requires_grad(w, 0);
    for (int i = 0; i < 4; i++) CHECK_NEAR(penalty(f, x), 600 + 2 + 27, 0);
    MISS(f, TC_MISS_CHECK);
    tc_requires_grad(w, 1); // which the last program does not use
    CHECK_NEAR(penalty(f, x), 600 + 6 * 4 + 2 + 27, 0);
    MISS(f, TC_MISS_BYTES);
    CHECK_EQ(tc_fn_demoted(f) == NULL, 1);
}

static void find_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_params *p = *(tc_params **)user;
    tc_tensor b = tc_params_find(p, "bias");
    (void)tc;
    out[0] = tc_is_null(b) ? tc_add_s(in[0], 1) : tc_add(in[0], b);
}

// Of a set that is closed nothing is compared any more: another may lie there.
BOTH(bodies_and_sets_that_end) {
    tc_tensor x = tc_full(tc, TC_SCALAR, 1, TC_F32);
    tc_params *p = tc_params_open(tc);
    tc_fn *f = tc_compile(tc, find_body, &p, sizeof p, NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) CHECK_NEAR(penalty(f, x), 2, 0);
        tc_param(p, "bias", TC_SCALAR, TC_F32, tc_init_constant(10 + round));
        for (int i = 0; i < 3; i++) CHECK_NEAR(penalty(f, x), 11 + round, 0);
        tc_params_close(p);
        p = tc_params_open(tc);
    }
}

static void close_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = in[0];
    tc_params_close(*(tc_params **)user);
}

BOTH(a_body_closes_no_set) {
    tc_params *p = small_set(tc);
    tc_tensor x = tc_ones(tc, TC_SCALAR, TC_F32), y;
    tc_fn *f = tc_compile(tc, close_body, &p, sizeof p, NULL);
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_params_close: called by a function's body");
    CHECK_EQ(tc_params_count(p), 4);
}

// ---- files ----

static char folder[] = "/tmp/tc_params_XXXXXX";
static char path[64];

static void make_folder(void) {
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.safetensors", folder);
}

static void remove_folder(void) {
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
}

BOTH(saved_and_loaded) {
    make_folder();
    tc_params *p = small_set(tc), *q = small_set(tc);
    tc_init_(tc_params_find(p, "fc.weight"), tc_init_normal(0, 1));
    CHECK_EQ(tc_params_save(p, path), TC_OK);
    tc_tensor w = tc_params_find(q, "fc.weight"), view = tc_select(w, 0, 1);
    CHECK_EQ(tc_params_load(q, path, 0), TC_OK);
    CHECK_STR(tc_params_unmatched(q), "");
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(AT(w, i), AT(tc_params_find(p, "fc.weight"), i), 0);
    CHECK_NEAR(AT(view, 2), AT(w, 5), 0); // in place
    CHECK(!tc_is_null(tc_grad_of(w)));
    // A set of other dtypes has them converted.
    tc_params *r = tc_params_open(tc);
    tc_param(r, "fc.weight", TC_DIMS(2, 3), TC_F64, tc_init_zeros());
    tc_param(r, "fc.bias", TC_DIMS(2), TC_BF16, tc_init_ones());
    tc_param_buffer(r, "norm.mean", TC_DIMS(2), TC_I32, tc_init_zeros());
    tc_param_buffer(r, "steps", TC_SCALAR, TC_F32, tc_init_zeros());
    CHECK_EQ(tc_params_load(r, path, 0), TC_OK);
    CHECK_NEAR(tc_get(tc_params_find(r, "fc.weight"), TC_DIMS(0, 1)), AT(w, 1), 0);
    CHECK_NEAR(tc_get(tc_params_find(r, "fc.bias"), TC_DIMS(1)), 0, 0);
    CHECK_NEAR(tc_get(tc_params_find(r, "norm.mean"), TC_DIMS(1)), 1, 0);
    CHECK_NEAR(tc_item(tc_params_find(r, "steps")), 7, 0);
    remove_folder();
}

// A function that was compiled before goes on with what was loaded.
BOTH(functions_see_what_is_loaded) {
    make_folder();
    net n;
    n.p = tc_params_open(tc), n.state = tc_params_open(tc);
    tc_tensor in[2], loss[2];
    in[0] = tc_ones(tc, TC_DIMS(8, 4), TC_F32), in[1] = tc_zeros(tc, TC_DIMS(8, 1), TC_F32);
    forward(n.p, in[0]);
    n.avg = tc_params_state(n.p, n.state, "m"), n.sq = tc_params_state(n.p, n.state, "v");
    n.step = tc_param_buffer(n.state, "step", TC_SCALAR, TC_F32, tc_init_zeros());
    tc_fn *f = tc_compile(tc, train_body, &n, sizeof n, NULL);
    for (int i = 0; i < 3; i++) CALL(f, in, 2, &loss[0], 1);
    CHECK_EQ(tc_params_save(n.p, path), TC_OK);
    CALL(f, in, 2, &loss[0], 1);
    CALL(f, in, 2, &loss[1], 1);
    CHECK(tc_item(loss[0]) != tc_item(loss[1]));
    CHECK_EQ(tc_params_load(n.p, path, 0), TC_OK);
    CALL(f, in, 2, &loss[1], 1);
    CHECK_NEAR(tc_item(loss[0]), tc_item(loss[1]), 0);
    CHECK_EQ(tc_stats_get(tc).skips, 4);
    remove_folder();
}

BOTH(strict_or_not) {
    make_folder();
    tc_params *p = small_set(tc), *q = tc_params_open(tc);
    CHECK_EQ(tc_params_save(p, path), TC_OK);
    tc_tensor w = tc_param(q, "fc.weight", TC_DIMS(2, 3), TC_F32, tc_init_zeros());
    tc_param(q, "fc2.weight", TC_DIMS(2), TC_F32, tc_init_constant(9));
    tc_param(q, "fc2.bias", TC_DIMS(2), TC_F32, tc_init_zeros());
    static const char unmatched[] = "missing \"fc2.weight\", \"fc2.bias\"; unexpected "
                                    "\"steps\", \"norm.mean\", \"fc.bias\"";
    CHECK_EQ(tc_params_load(q, path, 0), TC_E_ARG);
    ERROR(TC_E_ARG, unmatched);
    CHECK_STR(tc_params_unmatched(q), unmatched);
    CHECK_NEAR(AT(w, 0), 0, 0); // nothing was loaded
    CHECK_EQ(tc_params_load(q, path, TC_LOAD_PARTIAL), TC_OK);
    CHECK_STR(tc_params_unmatched(q), unmatched);
    CHECK_NEAR(AT(w, 0), 2, 0);
    CHECK_NEAR(AT(tc_params_find(q, "fc2.weight"), 0), 9, 0);
    // Other sizes are an error in any case, and nothing is loaded.
    tc_params *r = tc_params_open(tc);
    tc_param(r, "fc.bias", TC_DIMS(2), TC_F32, tc_init_ones());
    tc_param(r, "fc.weight", TC_DIMS(3, 2), TC_F32, tc_init_ones());
    CHECK_EQ(tc_params_load(r, path, TC_LOAD_PARTIAL), TC_E_SHAPE);
    ERROR(TC_E_SHAPE, "\"fc.weight\" is [3, 2], ");
    CHECK_NEAR(AT(tc_params_find(r, "fc.bias"), 0), 1, 0);
    remove_folder();
}

BOTH(files_refused) {
    make_folder();
    tc_params *p = small_set(tc);
    CHECK_EQ(tc_params_save(NULL, path), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_params_save: ");
    CHECK_EQ(tc_params_load(NULL, path, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_params_load: ");
    CHECK_STR(tc_params_unmatched(NULL), "");
    ERROR(TC_E_NULL, "tc_params_unmatched: ");
    CHECK_EQ(tc_params_save(p, NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_params_save: path is NULL");
    CHECK_EQ(tc_params_save(p, folder), TC_E_IO);
    ERROR(TC_E_IO, "is no plain file");
    CHECK_EQ(tc_params_load(p, path, 0), TC_E_IO);
    ERROR(TC_E_IO, "tc_params_load: cannot open");
    CHECK_EQ(tc_params_save(p, path), TC_OK);
    CHECK_EQ(tc_params_load(p, path, 6), TC_E_ARG);
    ERROR(TC_E_ARG, "flags are 6; 0 or TC_LOAD_PARTIAL");
    // A dtype that is not ours, of a name that the set has, and of one that it has not.
    static const char text[] = "{\"fc.bias\":{\"dtype\":\"F8_E8M0\",\"shape\":[2],"
                               "\"data_offsets\":[0,2]}}ab";
    unsigned char length[8] = {sizeof text - 3};
    FILE *file = fopen(path, "wb");
    REQUIRE(file);
    fwrite(length, 1, 8, file), fwrite(text, 1, sizeof text - 1, file), fclose(file);
    CHECK_EQ(tc_params_load(p, path, TC_LOAD_PARTIAL), TC_E_UNSUPPORTED);
    ERROR(TC_E_UNSUPPORTED, "\"fc.bias\" has elements of F8_E8M0");
    tc_params *q = tc_params_open(tc);
    CHECK_EQ(tc_params_load(q, path, TC_LOAD_PARTIAL), TC_OK);
    tc_free(tc_params_find(p, "steps"));
    CHECK_EQ(tc_params_save(p, path), TC_E_DEAD);
    ERROR(TC_E_DEAD, "\"steps\" was freed");
    CHECK_EQ(tc_params_load(p, path, TC_LOAD_PARTIAL), TC_E_UNSUPPORTED);
    ERROR(TC_E_UNSUPPORTED, "");
    remove_folder();
}

// Every allocation fails once: an error, the set is as it was, and nothing is left behind.
typedef struct poor {
    long n, seen;
} poor;

static void *poor_realloc(void *user, void *at, size_t old, size_t bytes) {
    poor *m = (poor *)user;
    return bytes && ++m->seen == m->n ? NULL : checked_realloc(at, old, bytes);
}

static int work(tc_ctx *c, tc_params *p, tc_params *state) {
    const tc_tensor *w;
    tc_tensor t = tc_param(p, "w", TC_DIMS(3, 2), TC_F32, tc_init_xavier_uniform(1));
    return t.id && tc_params_list(p, &w, NULL) == 1 && tc_params_state(p, state, "m") &&
           tc_params_text(p)[0] && !tc_params_save(p, path) &&
           !tc_params_load(p, path, 0) && !tc_params_to(p, "cpu") && !tc_error(c);
}

TEST(without_memory) {
    int refused = 0;
    make_folder();
    for (long n = 1; n < 400; n++) {
        poor m = {0, 0};
        tc_config config = tc_config_default();
        config.allocator.realloc = poor_realloc, config.allocator.user = &m;
        config.backend = "aot_eager", config.no_disk_cache = 1;
        tc_ctx *c = tc_open(&config);
        REQUIRE(c);
        tc_params *p = tc_params_open(c), *state = tc_params_open(c);
        m.n = n, m.seen = 0;
        int ok = work(c, p, state);
        long seen = m.seen;
        m.n = 0;
        if (!ok) CHECK_EQ(tc_error(c), TC_E_NOMEM), refused++;
        tc_error_clear(c);
        CHECK(work(c, p, state) || FAIL("after %ld: %s", n, tc_error_text(c)));
        CHECK_EQ(tc_params_count(p), 1);
        tc_close(c);
        if (seen < n) break;
    }
    CHECK(refused > 20);
    remove_folder();
}
