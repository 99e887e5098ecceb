// Option memory_budget, over five kinds of networks: whatever the budget, gradients have the bits of those without one,
// and intermediates take no more memory; the report says what they take, and whether that meets the budget.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { MOST = 80 };

typedef struct net {
    tc_tensor w[MOST], x;
    int n;    // weights
    int next; // that the forward pass takes
} net;

static tc_tensor noise(tc_ctx *tc, tc_dims d, double by) {
    return tc_keep(tc_mul_s(tc_randn(tc, d, TC_F32), by));
}

// The next weight: made the first time.
static tc_tensor weight(tc_ctx *tc, net *m, tc_dims d, double by) {
    if (m->next == m->n) m->w[m->n++] = noise(tc, d, by);
    return m->w[m->next++];
}

// ---- networks: of m->x a loss. The first call, outside of regions, makes the weights ----

static tc_tensor mlp(tc_ctx *tc, net *m) {
    tc_tensor h = m->x;
    for (int i = 0; i < 12; i++) {
        tc_tensor w = weight(tc, m, TC_DIMS(64, 64), 0.15);
        h = tc_gelu(tc_linear(h, w, weight(tc, m, TC_DIMS(64), 0.1)));
    }
    return tc_mean_all(tc_square(h));
}

// A convolution, a batch norm by hand, relu.
static tc_tensor layer(tc_ctx *tc, net *m, tc_tensor x, int stride, int out) {
    int64_t in = tc_dim(x, 1);
    x = tc_conv2d(x, weight(tc, m, TC_DIMS(out, in, 3, 3), 0.3 / (double)in), tc_null(),
                  stride, 1, 1, 1);
    x = tc_sub(x, tc_mean_dims(x, TC_DIMS(0, 2, 3), TC_KEEPDIM));
    tc_tensor v = tc_mean_dims(tc_square(x), TC_DIMS(0, 2, 3), TC_KEEPDIM);
    x = tc_mul(x, tc_rsqrt(tc_add_s(v, 1e-5)));
    x = tc_mul(x, weight(tc, m, TC_DIMS(1, out, 1, 1), 1));
    return tc_relu(tc_add(x, weight(tc, m, TC_DIMS(1, out, 1, 1), 0.3)));
}

static tc_tensor cnn(tc_ctx *tc, net *m) {
    tc_tensor x = layer(tc, m, m->x, 1, 16);
    for (int stage = 0; stage < 3; stage++)
        for (int k = 0; k < 2; k++) {
            int stride = stage && !k ? 2 : 1;
            tc_tensor h = layer(tc, m, x, stride, 16 << stage);
            h = layer(tc, m, h, 1, 16 << stage);
            x = stride == 1 && tc_dim(x, 1) == tc_dim(h, 1) ? tc_add(x, h) : h;
        }
    x = tc_mean(tc_mean(x, -1), -1);
    return tc_mean_all(
        tc_square(tc_linear(x, weight(tc, m, TC_DIMS(10, 64), 0.2), tc_null())));
}

static tc_tensor unet(tc_ctx *tc, net *m) {
    tc_tensor x = m->x, skip[2], both[2];
    for (int i = 0; i < 2; i++) {
        skip[i] = layer(tc, m, layer(tc, m, x, 1, 16 << i), 1, 16 << i);
        x = tc_max_pool2d(skip[i], 2, 2, 0);
    }
    x = layer(tc, m, layer(tc, m, x, 1, 48), 1, 48);
    for (int i = 2; i-- > 0;) {
        int64_t side = tc_dim(skip[i], 2);
        both[0] = tc_interpolate(x, TC_DIMS(side, side), TC_NEAREST), both[1] = skip[i];
        x = layer(tc, m, layer(tc, m, tc_cat(both, 2, 1), 1, 16 << i), 1, 16 << i);
    }
    x = tc_conv2d(x, weight(tc, m, TC_DIMS(1, 16, 1, 1), 0.2), tc_null(), 1, 0, 1, 1);
    return tc_mean_all(tc_square(tc_sub_s(x, 0.5)));
}

enum { WIDTH = 64, HEADS = 4 };

static tc_tensor attention(tc_ctx *tc, net *m, tc_tensor x) {
    int64_t b = tc_dim(x, 0), t = tc_dim(x, 1);
    tc_tensor part[3],
        all = tc_linear(x, weight(tc, m, TC_DIMS(3 * WIDTH, WIDTH), 0.1), tc_null());
    for (int i = 0; i < 3; i++) {
        part[i] = tc_reshape(tc_narrow(all, 2, i * WIDTH, WIDTH),
                             TC_DIMS(b, t, HEADS, WIDTH / HEADS));
        part[i] = tc_permute(part[i], TC_DIMS(0, 2, 1, 3));
    }
    x = tc_scaled_dot_product_attention(part[0], part[1], part[2], tc_null(), 1, 0);
    x = tc_reshape(tc_permute(x, TC_DIMS(0, 2, 1, 3)), TC_DIMS(b, t, WIDTH));
    return tc_linear(x, weight(tc, m, TC_DIMS(WIDTH, WIDTH), 0.1), tc_null());
}

static tc_tensor norm(tc_ctx *tc, net *m, tc_tensor x) {
    tc_tensor w = weight(tc, m, TC_DIMS(WIDTH), 1);
    return tc_layer_norm(x, w, weight(tc, m, TC_DIMS(WIDTH), 0.2), 1e-5);
}

static tc_tensor transformer(tc_ctx *tc, net *m) {
    tc_tensor x = m->x;
    for (int i = 0; i < 6; i++) {
        x = tc_add(x, attention(tc, m, norm(tc, m, x)));
        tc_tensor up = weight(tc, m, TC_DIMS(4 * WIDTH, WIDTH), 0.1);
        tc_tensor h = tc_gelu(tc_linear(norm(tc, m, x), up, tc_null()));
        h = tc_linear(h, weight(tc, m, TC_DIMS(WIDTH, 4 * WIDTH), 0.1), tc_null());
        x = tc_add(x, tc_dropout(h, 0.1));
    }
    return tc_mean_all(tc_square(x));
}

enum { HIDDEN = 16 };

static void cell(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor gates = tc_add(tc_matmul(in[0], *(const tc_tensor *)user), in[2]), g[4];
    (void)tc;
    for (int i = 0; i < 4; i++) g[i] = tc_narrow(gates, 1, i * HIDDEN, HIDDEN);
    out[1] =
        tc_add(tc_mul(tc_sigmoid(g[1]), in[1]), tc_mul(tc_sigmoid(g[0]), tc_tanh(g[2])));
    out[0] = tc_mul(tc_sigmoid(g[3]), tc_tanh(out[1]));
    out[2] = out[0]; // where rows of it are asked for
}

static tc_tensor lstm(tc_ctx *tc, net *m) {
    tc_tensor in = weight(tc, m, TC_DIMS(32, 4 * HIDDEN), 0.2),
              w = weight(tc, m, TC_DIMS(HIDDEN, 4 * HIDDEN), 0.2), first[2], last[2];
    tc_tensor x = tc_tanh(tc_matmul(tc_tanh(tc_mul_s(m->x, 1.5)), in));
    first[0] = first[1] = tc_zeros(tc, TC_DIMS(tc_dim(m->x, 1), HIDDEN), TC_F32);
    tc_scan(cell, &w, first, 2, &x, 1, last, NULL, 0);
    return tc_mean_all(tc_square(last[0]));
}

// Layers, a loop over what they make of rows, layers over all that it leaves, and a loop of those.
static tc_tensor around_loops(tc_ctx *tc, net *m) {
    tc_tensor x = m->x, h, first[2], last[2], row;
    first[0] = first[1] = tc_zeros(tc, TC_DIMS(tc_dim(x, 1), HIDDEN), TC_F32);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 8; i++) {
            tc_tensor w = weight(tc, m, TC_DIMS(64, 64), 0.15);
            x = tc_gelu(tc_linear(x, w, weight(tc, m, TC_DIMS(64), 0.1)));
        }
        tc_tensor w = weight(tc, m, TC_DIMS(HIDDEN, 4 * HIDDEN), 0.2);
        tc_scan(cell, &w, first, 2, &x, 1, last, &row, 1);
        h = weight(tc, m, TC_DIMS(64, HIDDEN), 0.4);
        x = tc_add(x, tc_linear(row, h, tc_null()));
    }
    return tc_add(tc_mean_all(tc_square(x)), tc_mean_all(last[1]));
}

static const struct {
    const char *name;
    tc_tensor (*f)(tc_ctx *tc, net *m);
    int64_t size[4]; // of x
    int reach;       // a budget that is met; 0 = none is, where nothing is computed again
} nets[] = {
    {"mlp", mlp, {512, 64, 0, 0}, 50},  {"cnn", cnn, {4, 3, 24, 24}, 60},
    {"unet", unet, {2, 3, 32, 32}, 90}, {"transformer", transformer, {2, 96, WIDTH, 0}, 50},
    {"lstm", lstm, {12, 16, 32, 0}, 0}, {"loops", around_loops, {6, 64, 64, 0}, 75},
};

// ---- a step of one, under a budget ----

typedef struct step {
    double bytes;    // of intermediates
    float *gradient; // of all weights, so many numbers
    size_t numbers;
    int derives, met;           // what the report says
    double said, without, more; // bytes, those without a budget, percent of operations more
} step;

// What stands behind `words` in the report; -1 = they do not.
static double number_behind(const char *text, const char *words) {
    const char *at = strstr(text, words);
    return at ? atof(at + strlen(words)) : -1;
}

static void read_report(const char *text, step *s) {
    const char *line = strstr(text, "\nmemory_budget ");
    if (!line) return;
    s->met = number_behind(line, ": met by ") > 0;
    s->said = number_behind(line, s->met ? ": met by " : "; the least found is ");
    s->without = number_behind(line, "% of the ");
    s->more = number_behind(line, "without it; ");
}

static step run(tc_ctx *tc, int which, int percent) {
    tc_options o = tc_options_default();
    tc_tensor g[MOST];
    net m;
    step s;
    tc_dims d = TC_SCALAR;
    memset(&m, 0, sizeof m), memset(&s, 0, sizeof s);
    for (; d.rank < 4 && nets[which].size[d.rank]; d.rank++)
        d.size[d.rank] = nets[which].size[d.rank];
    tc_manual_seed(tc, 7);
    m.x = noise(tc, d, 1);
    tc_keep(nets[which].f(tc, &m)), m.next = 0;
    tc_reset(tc);
    double before = (double)tc_stats_get(tc).arena_bytes;
    o.memory_budget = percent;
    tc_manual_seed(tc, 3);
    tc_trace_begin_at(tc, nets[which].name, &o, "test.c", 1);
    CHECK_EQ(tc_grad(nets[which].f(tc, &m), m.w, m.n, g), TC_OK);
    END();
    s.bytes = (double)tc_stats_get(tc).arena_bytes - before;
    CHECK_EQ(m.next, m.n);
    for (int i = 0; i < m.n; i++) {
        size_t n = (size_t)tc_numel(g[i]);
        s.gradient = (float *)realloc(s.gradient, (s.numbers + n + 1) * sizeof *s.gradient);
        CHECK_EQ(tc_read(g[i], s.gradient + s.numbers, n * sizeof *s.gradient), TC_OK);
        s.numbers += n;
    }
    read_report(tc_explain(tc), &s);
    if (s.without > 0)
        printf("%s: %.2f of the memory for %.0f %% more operations\n", nets[which].name,
               s.said / s.without, s.more);
    if (tc_error(tc)) FAIL("%s at %d: %s", nets[which].name, percent, tc_error_text(tc));
    tc_error_clear(tc);
    return s;
}

static void check_step(int which, int percent, const step *all, const step *s) {
    const char *name = nets[which].name;
    double most = 0;
    CHECK_EQ(s->numbers, all->numbers);
    for (size_t i = 0; i < s->numbers; i++) most = fmax(most, fabs((double)s->gradient[i]));
    CHECK(most > 1e-6); // not of nothing
    if (memcmp(s->gradient, all->gradient, s->numbers * sizeof *s->gradient))
        FAIL("%s at %d: other bits", name, percent);
    if (!(s->bytes <= all->bytes))
        FAIL("%s at %d: %g bytes, %g without", name, percent, s->bytes, all->bytes);
    if (s->said < s->bytes || s->said > s->bytes || s->without < all->bytes ||
        s->without > all->bytes)
        FAIL("%s at %d: %g bytes of %g, the report says %g of %g", name, percent, s->bytes,
             all->bytes, s->said, s->without);
    if (s->met != (s->bytes * 100 <= all->bytes * percent))
        FAIL("%s at %d: %g bytes of %g, met: %d", name, percent, s->bytes, all->bytes,
             s->met);
    if (nets[which].reach && percent >= nets[which].reach && !s->met)
        FAIL("%s at %d: not met", name, percent);
    if (s->bytes < all->bytes ? !(s->more > 0) : s->more > 0)
        FAIL("%s at %d: %g %% more operations", name, percent, s->more);
}

static void check_net(const char *backend, int which, const int *percent, int n) {
    tc_ctx *tc = open_backend(backend);
    REQUIRE(tc);
    step all = run(tc, which, 100);
    CHECK(all.without <= 0); // nothing is said of a budget
    for (int i = 0; i < n; i++) {
        step s = run(tc, which, percent[i]);
        check_step(which, percent[i], &all, &s);
        free(s.gradient);
    }
    free(all.gradient);
    tc_close(tc);
}

static const int budgets[] = {90, 75, 60, 50, 30, 10};

TEST(an_mlp) { check_net("aot_eager", 0, budgets, 6); }
TEST(a_cnn) { check_net("aot_eager", 1, budgets, 6); }
TEST(a_unet) { check_net("aot_eager", 2, budgets, 6); }
TEST(a_transformer) { check_net("aot_eager", 3, budgets, 6); }
TEST(an_lstm) { check_net("aot_eager", 4, budgets, 6); }
TEST(layers_around_loops) { check_net("aot_eager", 5, budgets, 6); }
TEST(compiled) {
    check_net("cpu", 2, budgets, 1);
    check_net("cpu", 3, budgets + 4, 1);
}

// What is chosen depends neither on threads nor on the instruction set.
TEST(the_choice_is_the_same) {
    for (int which = 2; which < 4; which++) {
        step first;
        for (int i = 0; i < 3; i++) {
            tc_ctx *tc = open_as("aot_eager", i == 2 ? "baseline" : NULL, i ? 4 : 1);
            REQUIRE(tc);
            step s = run(tc, which, 75);
            if (!i) first = s;
            CHECK_EQ(s.bytes, first.bytes);
            CHECK_EQ(s.more, first.more);
            CHECK(!memcmp(s.gradient, first.gradient, s.numbers * sizeof *s.gradient));
            if (i) free(s.gradient);
            tc_close(tc);
        }
        free(first.gradient);
    }
}

// A budget of a program whose sizes are known when it runs: with each the bits of one without.
TEST(sizes_at_run_time) {
    tc_ctx *tc = open_backend("aot_eager");
    REQUIRE(tc);
    net m;
    memset(&m, 0, sizeof m);
    tc_manual_seed(tc, 7);
    m.x = noise(tc, TC_DIMS(8, 64), 1);
    tc_keep(mlp(tc, &m));
    for (int rows = 200; rows < 500; rows += 70) {
        tc_tensor g[2][MOST];
        m.x = noise(tc, TC_DIMS(rows, 64), 1);
        for (int on = 0; on < 2; on++) {
            tc_options o = tc_options_default();
            o.memory_budget = on ? 50 : 0, m.next = 0;
            tc_trace_begin_at(tc, on ? "with" : "without", &o, "test.c", 1);
            CHECK_EQ(tc_grad(mlp(tc, &m), m.w, m.n, g[on]), TC_OK);
            END();
        }
        for (int i = 0; i < m.n; i++)
            for (int k = 0; k < tc_numel(g[0][i]); k += 37)
                CHECK_EQ(AT(g[0][i], k), AT(g[1][i], k));
    }
    CHECK(tc_stats_get(tc).programs <= 4);
    CHECK(strstr(tc_explain(tc), "memory_budget 50: met by "));
    tc_close(tc);
}

// Without gradients there is nothing to choose.
TEST(nothing_is_searched_without_gradients) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_options o = tc_options_default();
    o.memory_budget = 10;
    tc_trace_begin_at(tc, "forward", &o, "test.c", 1);
    tc_tensor y = tc_softmax(tc_matmul(tc_randn(tc, TC_DIMS(64, 64), TC_F32),
                                       tc_randn(tc, TC_DIMS(64, 64), TC_F32)),
                             -1);
    END();
    CHECK(y.id && !strstr(tc_explain(tc), "memory_budget"));
    tc_close(tc);
}
