// Gradients on a device: what a region derives there is what it derives on the host, up to the order of sums, and the
// same bits at every visit.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { MOST_IN = 4, MOST = 96 * 128 };

typedef tc_tensor (*loss_fn)(const tc_tensor *in);

static tc_tensor mlp(const tc_tensor *in) {
    tc_tensor h = tc_gelu(tc_linear(in[0], in[1], in[2]));
    return tc_mean_all(tc_square(tc_matmul(h, tc_t(in[3]))));
}
static tc_tensor norm(const tc_tensor *in) {
    return tc_sum_all(tc_square(tc_layer_norm(in[0], in[1], in[2], 1e-5)));
}
static tc_tensor classes(const tc_tensor *in) {
    tc_tensor places = tc_to_i64(tc_clamp(tc_mul_s(in[2], 3), 0, 11));
    return tc_cross_entropy(in[0], places);
}
static tc_tensor maps(const tc_tensor *in) {
    tc_tensor y = tc_relu(tc_conv2d(in[0], in[1], in[2], 1, 1, 1, 1));
    return tc_sum_all(tc_square(tc_max_pool2d(y, 2, 2, 0)));
}
static tc_tensor attention(const tc_tensor *in) {
    return tc_sum_all(
        tc_square(tc_scaled_dot_product_attention(in[0], in[1], in[2], tc_null(), 1, 0)));
}
static tc_tensor rows(const tc_tensor *in) {
    tc_tensor places = tc_to_i64(tc_clamp(tc_mul_s(in[1], 2), 0, 5));
    tc_tensor y = tc_mul(tc_embedding(in[0], places), in[2]);
    return tc_sum_all(tc_square(tc_cumsum(tc_softmax(y, -1), 0)));
}

static tc_tensor dropout(const tc_tensor *in) {
    tc_tensor y = tc_layer_norm(tc_add(tc_dropout(in[0], 0.3), in[3]), in[1], in[2], 1e-5);
    return tc_sum_all(tc_mul(y, tc_sin(y)));
}

static tc_ctx *of_jobs;

static void layer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor w = *(const tc_tensor *)user;
    (void)tc;
    out[0] = tc_add(in[0], tc_dropout(tc_gelu(tc_matmul(in[0], w)), 0.2));
}
static tc_tensor checkpoints(const tc_tensor *in) {
    tc_tensor x = in[0], w[2];
    for (int i = 0; i < 2; i++) {
        w[i] = in[1 + i];
        CHECK_EQ(tc_checkpoint(of_jobs, layer, &w[i], &x, 1, &x, 1), TC_OK);
    }
    return tc_mean_all(tc_square(x));
}

static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_tensor *w = (const tc_tensor *)user;
    (void)tc;
    out[0] = out[1] = tc_tanh(tc_add(tc_matmul(in[0], *w), in[1]));
}
static tc_tensor turns(const tc_tensor *in) {
    tc_tensor h, y, w = in[1];
    tc_scan(turn, &w, &in[2], 1, &in[0], 1, &h, &y, 1);
    return tc_add(tc_sum_all(tc_square(y)), tc_mean_all(h));
}

typedef struct job {
    const char *name;
    loss_fn f;
    int n_in, derived; // of the operands, the first so many
    int64_t size[MOST_IN][4];
} job;

static const job jobs[] = {
    {"mlp", mlp, 4, 4, {{8, 12}, {16, 12}, {16}, {5, 16}}},
    {"norm", norm, 3, 3, {{8, 24}, {24}, {24}}},
    {"classes", classes, 3, 1, {{8, 12}, {1}, {8}}},
    {"maps", maps, 3, 3, {{2, 2, 6, 6}, {3, 2, 3, 3}, {3}}},
    {"attention", attention, 3, 3, {{2, 6, 8}, {2, 6, 8}, {2, 6, 8}}},
    {"rows", rows, 3, 1, {{6, 8}, {10}, {10, 8}}},
    {"dropout", dropout, 4, 4, {{8, 24}, {24}, {24}, {8, 24}}},
    {"checkpoints", checkpoints, 3, 3, {{8, 12}, {12, 12}, {12, 12}}},
    {"turns", turns, 3, 3, {{7, 4, 8}, {8, 8}, {4, 8}}},
};

static tc_tensor operand(tc_ctx *tc, const int64_t *size, int number, const char *device) {
    static float x[MOST];
    tc_dims d = TC_SCALAR;
    int64_t n = 1;
    while (d.rank < 4 && size[d.rank])
        n *= size[d.rank], d.size[d.rank] = size[d.rank], d.rank++;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)sin(0.7 * (double)(i + 1) * (number + 1.3));
    tc_tensor t = tc_from_data(tc, x, d, TC_F32);
    return strcmp(device, "cpu") ? tc_to(t, device) : t;
}

// Gradients of two visits, which must be the same, one behind the other in g; how many numbers.
static int64_t gradients(tc_ctx *tc, const job *j, const char *device, float *g) {
    static float again[MOST];
    tc_tensor in[MOST_IN], d[MOST_IN];
    int64_t n = 0;
    char name[80];
    snprintf(name, sizeof name, "%s on %s", j->name, device);
    for (int k = 0; k < j->n_in; k++) in[k] = operand(tc, j->size[k], k, device);
    for (int visit = 0; visit < 2; visit++) {
        tc_manual_seed(tc, 11);
        tc_trace_begin(tc, name);
        CHECK_EQ(tc_grad(j->f(in), in, j->derived, d), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        n = 0;
        for (int k = 0; k < j->derived; k++) {
            int64_t size = tc_numel(d[k]);
            if (size < 0 || n + size > MOST) return 0;
            CHECK_EQ(tc_read(d[k], (visit ? again : g) + n, (size_t)size * sizeof *g),
                     TC_OK);
            CHECK(!strcmp(tc_device_of(d[k]), device));
            n += size;
        }
    }
    CHECK(!memcmp(g, again, (size_t)n * sizeof *g));
    return n;
}

static void check_job(tc_ctx *tc, const job *j) {
    static float host[MOST], device[MOST];
    double most = 0;
    int64_t n = gradients(tc, j, "cpu", host);
    CHECK_EQ(gradients(tc, j, DEVICE_NAME, device), n);
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)host[i]));
    CHECK(most > 1e-3);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)host[i] - (double)device[i]) <= 1e-5 * most))
            FAIL("%s, number %d: %g, on the host %g", j->name, (int)i, (double)device[i],
                 (double)host[i]);
}

TEST(of_programs) {
    tc_config config = tc_config_default();
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    of_jobs = tc;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        check_job(tc, &jobs[i]);
        if (tc_error(tc)) FAIL("%s: %s", jobs[i].name, tc_error_text(tc));
        tc_error_clear(tc);
    }
    tc_close(tc);
    check_device_closed();
}

// Under TC_STANCE_FORCE_EAGER each op is a kernel of its own, on the device too.
TEST(of_each_op_alone) {
    tc_config config = tc_config_default();
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    of_jobs = tc;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        int kernels[2];
        if (i % 3 && !test_all()) continue;
        for (int forced = 1; forced >= 0; forced--) {
            char name[80];
            snprintf(name, sizeof name, "%s on %s", jobs[i].name, DEVICE_NAME);
            tc_set_stance(tc, forced ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
            check_job(tc, &jobs[i]);
            kernels[forced] = tc_region_kernels(tc, name);
        }
        if (kernels[1] <= kernels[0])
            FAIL("%s: %d kernels, %d of ops alone", jobs[i].name, kernels[0], kernels[1]);
        if (tc_error(tc)) FAIL("%s: %s", jobs[i].name, tc_error_text(tc));
        tc_error_clear(tc);
    }
    tc_close(tc);
    check_device_closed();
}

static int limits_told;

static void count_limits(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)level, (void)channel;
    limits_told += strstr(text, "recompile_limit") != NULL;
}

// Six losses of a loop that goes from one stance to the other where the course says so: 0 default, 1 forced.
static void learn_there(const char *course, int limit, double *loss) {
    static const int64_t size[3][4] = {{8, 12}, {12, 12}, {12, 12}};
    tc_config config = tc_config_default();
    config.threads = 1, config.logger.log = count_limits;
    tc_ctx *tc = of_jobs = tc_open(&config);
    REQUIRE(open_device(tc));
    tc_tensor in[3], g[2];
    tc_options o = tc_options_default();
    o.recompile_limit = limit;
    for (int k = 0; k < 3; k++) in[k] = operand(tc, size[k], k, DEVICE_NAME);
    tc_manual_seed(tc, 3);
    for (int step = 0; course[step]; step++) {
        tc_set_stance(tc, course[step] == '1' ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
        tc_trace_begin_with(tc, "learns", &o);
        tc_tensor of = checkpoints(in);
        CHECK_EQ(tc_grad(of, in + 1, 2, g), TC_OK);
        for (int k = 0; k < 2; k++) tc_sgd_(in[1 + k], g[k], tc_null(), 0.1, 0, 0, 0);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        loss[step] = tc_item(of);
    }
    if (tc_error(tc)) FAIL("%s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

// A training loop there learns the same under both, and its programs are no part of recompile_limit.
TEST(of_steps_under_stances) {
    static const char *const course[] = {"000000", "111111", "001100"};
    double loss[3][6];
    limits_told = 0;
    for (int i = 0; i < 3; i++) learn_there(course[i], 1, loss[i]);
    CHECK_EQ(limits_told, 0); // one program of the default stance
    for (int step = 0; step < 6; step++)
        for (int i = 1; i < 3; i++)
            CHECK(fabs(loss[i][step] - loss[0][step]) <= 1e-5 * fabs(loss[0][step]));
    CHECK(loss[0][5] != loss[0][0]);
}

// The job with every size that is `from` another.
static job resized(const job *j, int64_t from, int64_t to) {
    job r = *j;
    for (int k = 0; k < MOST_IN; k++)
        for (int i = 0; i < 4; i++)
            if (r.size[k][i] == from) r.size[k][i] = to;
    return r;
}

// Whether the size of operand k's dimension stands in one before it.
static int is_earlier(const job *j, int k, int dim) {
    for (int i = 0; i < 4 * k + dim; i++)
        if (j->size[i / 4][i % 4] == j->size[k][dim]) return 1;
    return 0;
}

// Gradients of programs whose sizes are known when they run: one size after the other is another at each visit.
TEST(of_run_time_sizes) {
    tc_config config = tc_config_default();
    if (!test_all()) SKIP("of ./build.sh test all");
    config.threads = 1;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const job *j = &jobs[i];
        for (int k = 0; k < MOST_IN; k++)
            for (int dim = 0; dim < 4; dim++) {
                int64_t size = j->size[k][dim];
                if (size < 2 || is_earlier(j, k, dim)) continue;
                tc_ctx *tc = tc_open(&config);
                REQUIRE(open_device(tc));
                of_jobs = tc;
                for (int64_t more = 0; more < 6; more += 2) {
                    job r = resized(j, size, size + more);
                    check_job(tc, &r);
                    if (tc_error(tc))
                        FAIL("%s, %d + %d: %s", j->name, (int)size, (int)more,
                             tc_error_text(tc));
                    tc_error_clear(tc);
                }
                tc_close(tc);
            }
    }
    check_device_closed();
}

// A dropout's mask is drawn again, and lies nowhere.
TEST(masks_are_not_stored) {
    static const int64_t size[2][4] = {{96, 128}, {128}};
    tc_config config = tc_config_default();
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    tc_tensor x = operand(tc, size[0], 1, DEVICE_NAME),
              b = operand(tc, size[1], 2, DEVICE_NAME), g;
    tc_trace_begin(tc, "mask");
    tc_grad(
        tc_sum_all(tc_exp(tc_mean(tc_square(tc_dropout(tc_relu(tc_add(x, b)), 0.5)), 0))),
        &x, 1, &g);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(tc_stats_get(tc).arena_bytes < 96 * 128);
    tc_close(tc);
    check_device_closed();
}

// Bytes of intermediates of a step through six layers under a budget, and the gradient of the first weight.
static double budget_bytes(int percent, float *gradient, char report[400]) {
    static const int64_t size[2][4] = {{96, 64}, {64, 64}};
    tc_config config = tc_config_default();
    tc_options o = tc_options_default();
    tc_tensor w[6], g;
    config.threads = 1, o.memory_budget = percent;
    tc_ctx *tc = tc_open(&config);
    if (!open_device(tc)) return -1;
    tc_tensor x = operand(tc, size[0], 1, DEVICE_NAME);
    for (int i = 0; i < 6; i++)
        w[i] = tc_mul_s(operand(tc, size[1], 2 + i, DEVICE_NAME), 0.2);
    tc_reset(tc);
    double before = (double)tc_stats_get(tc).arena_bytes;
    tc_manual_seed(tc, 11);
    tc_trace_begin_at(tc, "budget", &o, "test.c", 1);
    for (int i = 0; i < 6; i++)
        x = tc_add(x, tc_dropout(tc_gelu(tc_layer_norm(tc_matmul(x, w[i]), tc_null(),
                                                       tc_null(), 1e-5)),
                                 0.2));
    CHECK_EQ(tc_grad(tc_mean_all(tc_square(x)), w, 1, &g), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    double bytes = (double)tc_stats_get(tc).arena_bytes - before;
    CHECK_EQ(tc_read(g, gradient, 64 * 64 * sizeof *gradient), TC_OK);
    const char *line = strstr(tc_explain(tc), "\nmemory_budget "); // not the summary's
    snprintf(report, 400, "%.399s", line ? line : "");
    CHECK(strstr(tc_explain(tc), " bytes of intermediates live at once, in kernel "));
    if (tc_error(tc)) FAIL("%d: %s", percent, tc_error_text(tc));
    tc_close(tc);
    return bytes;
}

// A budget is of what the device's kernels leave to others, and never costs memory.
TEST(under_a_budget) {
    static float all[64 * 64], g[64 * 64];
    static const int budgets[] = {90, 75, 30};
    char report[400], said[80];
    double most = 0, without = budget_bytes(0, all, report);
    CHECK(without > 0 && !*report);
    for (int i = 0; i < 64 * 64; i++) most = fmax(most, fabs((double)all[i]));
    CHECK(most > 1e-6);
    for (int k = 0; k < 3; k++) {
        double bytes = budget_bytes(budgets[k], g, report);
        int met = bytes * 100 <= without * budgets[k];
        if (!(bytes <= without)) FAIL("%d: %g bytes of %g", budgets[k], bytes, without);
        snprintf(said, sizeof said, "%s %.0f bytes", met ? ": met by" : "least found is",
                 bytes);
        if (!strstr(report, said)) FAIL("%d: not \"%s\": %s", budgets[k], said, report);
        if (budgets[k] >= 75) CHECK(met);
        for (int i = 0; i < 64 * 64; i++)
            if (!(fabs((double)all[i] - (double)g[i]) <= 1e-5 * most))
                FAIL("%d, number %d: %g, without a budget %g", budgets[k], i, (double)g[i],
                     (double)all[i]);
    }
    check_device_closed();
}

// Parameters of a device have their gradients there; one of the host reaches a loss there, and the other way round.
TEST(across_devices) {
    tc_config config = tc_config_default();
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    tc_tensor a = line(tc, 4, 1, 1), b = tc_to(line(tc, 4, 2, 0), DEVICE_NAME);
    CHECK_EQ(tc_requires_grad(a, 1), TC_OK);
    CHECK_EQ(tc_requires_grad(b, 1), TC_OK);
    CHECK(!strcmp(tc_device_of(tc_grad_of(b)), DEVICE_NAME));
    for (int k = 1; k < 3; k++) {
        tc_trace_begin(tc, "across");
        tc_tensor there = tc_mul(tc_to(tc_square(a), DEVICE_NAME), b);
        CHECK_EQ(tc_backward(tc_sum_all(tc_to(there, "cpu"))), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(tc_grad_of(a), 3), 16 * k);
        CHECK_EQ(AT(tc_to(tc_grad_of(b), "cpu"), 3), 16 * k);
    }
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}
