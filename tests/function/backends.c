// Backends: one that evaluates graphs with loops of its own, from nothing but what it is given; what
// goes wrong with one, and how work goes on; the registry; regions that change theirs; the texts of a
// graph; and the three of ours against each other. Values come from plain C in double.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"

#include "harness.h"

#include "help.h"

#include <math.h>

// ---- a backend that evaluates ----

typedef struct counts {
    int compiled, runs, forgotten;
    int fail_at;     // run that fails, counted from 1; 0 = none
    tc_status fails; //   and with what
} counts;

typedef struct plan {
    const tc_graph *g;
    double **value; // by node
    int64_t *count; //   and how many
} plan;

static int64_t elements(const tc_spec *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->dims[d];
    return n;
}

// The next index in row-major order.
static void step_index(const tc_spec *s, int64_t *at) {
    for (int d = s->rank; d-- > 0;) {
        if (++at[d] < s->dims[d]) return;
        at[d] = 0;
    }
}

static int64_t offset_of(const tc_spec *s, const int64_t *at) {
    int64_t o = 0;
    for (int d = 0; d < s->rank; d++) o = o * s->dims[d] + at[d];
    return o;
}

static double load(const tc_buffer *b, int64_t i) {
    switch (b->spec.dtype) {
    case TC_BOOL:
    case TC_U8: return ((const uint8_t *)b->data)[i];
    case TC_I32: return ((const int32_t *)b->data)[i];
    case TC_I64: return (double)((const int64_t *)b->data)[i];
    case TC_F32: return (double)((const float *)b->data)[i];
    case TC_F64: return ((const double *)b->data)[i];
    case TC_DTYPE_COUNT: break;
    }
    return NAN;
}

static void store(const tc_buffer *b, int64_t i, double v) {
    switch (b->spec.dtype) {
    case TC_BOOL:
    case TC_U8: ((uint8_t *)b->data)[i] = (uint8_t)v; return;
    case TC_I32: ((int32_t *)b->data)[i] = (int32_t)v; return;
    case TC_I64: ((int64_t *)b->data)[i] = (int64_t)v; return;
    case TC_F32: ((float *)b->data)[i] = (float)v; return;
    case TC_F64: ((double *)b->data)[i] = v; return;
    case TC_DTYPE_COUNT: return;
    }
}

static double to_dtype(double v, tc_dtype t) {
    if (t == TC_BOOL) return v != 0;
    if (t == TC_F32) return (double)(float)v;
    return t == TC_F64 ? v : trunc(v);
}

// ---- its ops, in a table: an op that is not there is refused ----

typedef struct job {
    const tc_graph_run *run;
    const plan *p;
    const tc_graph_node *n;
    double *to;
} job;

static const double *operand(const job *j, int i) { return j->p->value[j->n->in[i]]; }
static const tc_spec *operand_spec(const job *j, int i) {
    return &j->p->g->node[j->n->in[i]].spec;
}

static void do_input(const job *j) {
    for (int i = 0; i < j->run->n_in; i++) {
        if (&j->p->g->node[j->p->g->input[i]] != j->n) continue;
        int64_t n = elements(&j->n->spec);
        for (int64_t k = 0; k < n; k++) j->to[k] = load(&j->run->in[i], k);
    }
}

static void do_const(const job *j) {
    int real = j->n->spec.dtype == TC_F32 || j->n->spec.dtype == TC_F64;
    j->to[0] = (double)j->n->attr[0];
    if (real) memcpy(j->to, &j->n->attr[0], sizeof *j->to);
}

static void do_arg(const job *j) { j->to[0] = j->run->arg[j->n->attr[0]]; }

static double apply(const char *op, double a, double b) {
    if (!strcmp(op, "add")) return a + b;
    if (!strcmp(op, "sub")) return a - b;
    if (!strcmp(op, "mul")) return a * b;
    if (!strcmp(op, "maximum")) return a > b ? a : b;
    if (!strcmp(op, "relu")) return a > 0 ? a : 0;
    if (!strcmp(op, "square")) return a * a;
    return -a;
}

static void do_element(const job *j) {
    int64_t n = elements(&j->n->spec);
    const double *a = operand(j, 0), *b = operand(j, j->n->n_in - 1);
    for (int64_t i = 0; i < n; i++)
        j->to[i] = to_dtype(apply(j->n->op, a[i], b[i]), j->n->spec.dtype);
}

static void do_cast(const job *j) {
    int64_t n = elements(&j->n->spec);
    CHECK_EQ(j->n->attr[0], j->n->spec.dtype);
    for (int64_t i = 0; i < n; i++) j->to[i] = to_dtype(operand(j, 0)[i], j->n->spec.dtype);
}

static void do_reshape(const job *j) {
    int64_t n = elements(&j->n->spec);
    CHECK_EQ(j->n->n_attr, j->n->spec.rank);
    for (int d = 0; d < j->n->n_attr; d++) CHECK_EQ(j->n->attr[d], j->n->spec.dims[d]);
    for (int64_t i = 0; i < n; i++) j->to[i] = operand(j, 0)[i];
}

// Where the result's element `at` comes from, in the operand.
static void source_of(const job *j, const int64_t *at, int64_t *from) {
    const tc_graph_node *n = j->n;
    const tc_spec *in = operand_spec(j, 0);
    for (int d = 0; d < in->rank; d++) from[d] = at[d];
    for (int d = 0; !strcmp(n->op, "expand") && d < in->rank; d++)
        if (in->dims[d] == 1) from[d] = 0;
    for (int d = 0; !strcmp(n->op, "permute") && d < in->rank; d++)
        from[n->attr[d]] = at[d];
    if (!strcmp(n->op, "slice"))
        from[n->attr[0]] = n->attr[1] + at[n->attr[0]] * n->attr[3];
}

static void do_move(const job *j) {
    int64_t at[TC_MAX_RANK] = {0}, from[TC_MAX_RANK], n = elements(&j->n->spec);
    for (int64_t i = 0; i < n; i++, step_index(&j->n->spec, at)) {
        source_of(j, at, from);
        j->to[i] = operand(j, 0)[offset_of(operand_spec(j, 0), from)];
    }
}

static void do_reduce(const job *j) {
    int64_t at[TC_MAX_RANK] = {0}, to[TC_MAX_RANK];
    const tc_spec *in = operand_spec(j, 0);
    int64_t n = elements(in), results = elements(&j->n->spec);
    int sum = !strcmp(j->n->op, "sum");
    for (int64_t i = 0; i < results; i++) j->to[i] = sum ? 0 : -INFINITY;
    for (int64_t i = 0; i < n; i++, step_index(in, at)) {
        for (int d = 0; d < in->rank; d++) to[d] = j->n->attr[0] >> d & 1 ? 0 : at[d];
        double *r = &j->to[offset_of(&j->n->spec, to)], v = operand(j, 0)[i];
        *r = sum ? *r + v : v > *r ? v : *r;
    }
}

static const struct {
    const char *op;
    void (*run)(const job *j);
} ops[] = {
    {"input", do_input}, {"const", do_const},     {"arg", do_arg},
    {"add", do_element}, {"sub", do_element},     {"mul", do_element},
    {"neg", do_element}, {"maximum", do_element}, {"relu", do_element},
    {"cast", do_cast},   {"square", do_element},  {"reshape", do_reshape},
    {"expand", do_move}, {"permute", do_move},    {"slice", do_move},
    {"sum", do_reduce},  {"amax", do_reduce},
};

enum { OPS = (int)(sizeof ops / sizeof *ops) };

static int op_of(const char *op) {
    for (int i = 0; i < OPS; i++)
        if (!strcmp(ops[i].op, op)) return i;
    return -1;
}

static void loops_forget(void *user, void *state) {
    plan *p = (plan *)state;
    ((counts *)user)->forgotten++;
    for (int i = 0; i < p->g->n_node; i++) free(p->value[i]);
    free(p->value);
    free(p);
}

static tc_status loops_compile(void *user, const tc_graph *g, void **state,
                               const char **why) {
    static char reason[80]; // outlives the call
    for (int i = 0; i < g->n_node; i++) {
        if (op_of(g->node[i].op) >= 0) continue;
        snprintf(reason, sizeof reason, "it has no loop for \"%s\"", g->node[i].op);
        *why = reason;
        return TC_E_UNSUPPORTED;
    }
    plan *p = (plan *)calloc(1, sizeof *p);
    if (!p) return TC_E_NOMEM;
    p->g = g, p->value = (double **)calloc((size_t)g->n_node + 1, sizeof *p->value);
    for (int i = 0; i < g->n_node; i++)
        p->value[i] =
            (double *)calloc((size_t)elements(&g->node[i].spec) + 1, sizeof *p->value[i]);
    ((counts *)user)->compiled++;
    *state = p;
    return TC_OK;
}

static tc_status loops_run(void *user, void *state, const tc_graph_run *run) {
    plan *p = (plan *)state;
    counts *c = (counts *)user;
    job j;
    j.run = run, j.p = p;
    for (int i = 0; i < p->g->n_node; i++) {
        j.n = &p->g->node[i], j.to = p->value[i];
        ops[op_of(j.n->op)].run(&j);
    }
    for (int i = 0; i < run->n_out; i++) {
        int64_t n = elements(&run->out[i].spec);
        for (int64_t k = 0; k < n; k++)
            store(&run->out[i], k, p->value[p->g->output[i]][k]);
    }
    return ++c->runs == c->fail_at ? c->fails : TC_OK; // fails when outputs are written
}

// ---- a context with it ----

static counts count;
static int warnings;
static char warning[1024];

static void on_log(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level != 1) return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static tc_backend loops(void) {
    tc_backend b;
    memset(&b, 0, sizeof b);
    b.name = "loops", b.doc = "plain loops, one op after the other", b.user = &count;
    b.compile = loops_compile, b.run = loops_run, b.forget = loops_forget;
    return b;
}

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.no_disk_cache = 1, config.threads = 1, config.logger.log = on_log;
    return tc_open(&config);
}

static tc_ctx *open_loops(void) {
    tc_ctx *tc = open_context();
    tc_backend b = loops();
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    return tc;
}

static tc_options on(const char *backend) {
    tc_options o = tc_options_default();
    o.backend = backend;
    return o;
}

enum { MOST = 4096 };

static double at(tc_tensor t, int i) {
    float x[MOST];
    size_t n = (size_t)tc_numel(t);
    if (n > MOST || tc_dtype_of(t) != TC_F32 || tc_read(t, x, n * sizeof *x)) return NAN;
    return (double)x[i];
}

// What ramp() holds at flat index i: small whole numbers of both signs, so that sums and products
// below are exact in f32.
static double ramp_at(int i) { return (i * 7 + 3) % 11 - 5; }

static tc_tensor ramp(tc_ctx *tc, tc_dims d) {
    float x[MOST];
    int n = 1;
    for (int i = 0; i < d.rank; i++) n *= (int)d.size[i];
    for (int i = 0; i < n; i++) x[i] = (float)ramp_at(i);
    return tc_from_data(tc, x, d, TC_F32);
}

// ---- what it is given is enough ----

enum { ROWS = 6, COLUMNS = 8 };

TEST(arithmetic_broadcasts_reductions) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_tensor x = ramp(tc, TC_DIMS(ROWS, COLUMNS)), a = ramp(tc, TC_DIMS(COLUMNS));
    tc_tensor b = ramp(tc, TC_DIMS(ROWS, 1));
    for (int k = 0; k < 3; k++) {
        tc_trace_begin_with(tc, "affine", &o);
        tc_tensor y = tc_keep(tc_relu(tc_sub(tc_mul(x, a), b)));
        tc_tensor sum = tc_sum(y, 1), most = tc_amax_all(tc_maximum(y, x));
        tc_tensor by_column = tc_sum_dims(tc_square(y), TC_DIMS(0), TC_KEEPDIM);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        double top = -INFINITY, columns[COLUMNS] = {0};
        for (int r = 0; r < ROWS; r++) {
            double rows = 0;
            for (int c = 0; c < COLUMNS; c++) {
                double v = ramp_at(r * COLUMNS + c) * ramp_at(c) - ramp_at(r);
                v = v > 0 ? v : 0;
                CHECK_EQ(at(y, r * COLUMNS + c), v);
                rows += v, columns[c] += v * v;
                top = v > top ? v : top;
            }
            CHECK_EQ(at(sum, r), rows);
        }
        for (int c = 0; c < COLUMNS; c++) CHECK_EQ(at(by_column, c), columns[c]);
        for (int i = 0; i < ROWS * COLUMNS; i++) top = ramp_at(i) > top ? ramp_at(i) : top;
        CHECK_EQ(at(most, 0), top);
        tc_free(y);
    }
    CHECK_EQ(count.compiled, 1);
    CHECK_EQ(count.runs, 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 0);
    tc_close(tc);
    CHECK_EQ(count.forgotten, 1);
}

// Inputs come row-major, whatever they are; movement of results comes as nodes.
TEST(strided_inputs_and_moved_results) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_tensor x = ramp(tc, TC_DIMS(ROWS, COLUMNS));
    tc_tensor turned = tc_transpose(x, 0, 1);                           // [8, 6]
    tc_tensor backwards = tc_flip(tc_slice(x, 0, 1, 5, 3), TC_DIMS(1)); // rows 1 and 4
    tc_tensor repeated = tc_expand(tc_slice(x, 0, 2, 3, 1), TC_DIMS(COLUMNS, COLUMNS));
    for (int k = 0; k < 2; k++) {
        tc_trace_begin_with(tc, "strided", &o);
        tc_tensor y = tc_add(tc_keep(tc_neg(turned)), tc_slice(repeated, 1, 1, 7, 1));
        tc_tensor z = tc_mul(tc_permute(y, TC_DIMS(1, 0)), x);                  // [6, 8]
        tc_tensor w = tc_square(tc_slice(tc_neg(backwards), 1, 6, TC_END, -2)); // no such
        tc_tensor v = tc_square(tc_slice(tc_neg(x), 1, 1, TC_END, 3)); // columns 1, 4, 7
        tc_tensor u = tc_add_s(tc_sum(tc_reshape(y, TC_DIMS(4, 12)), 0), 0.5);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        double sums[12] = {0};
        for (int r = 0; r < ROWS; r++) {
            for (int c = 0; c < COLUMNS; c++) {
                double e = ramp_at(2 * COLUMNS + r + 1) - ramp_at(r * COLUMNS + c);
                sums[(c * ROWS + r) % 12] += e;
                CHECK_EQ(at(z, r * COLUMNS + c), e * ramp_at(r * COLUMNS + c));
            }
            for (int c = 0; c < 3; c++)
                CHECK_EQ(at(v, r * 3 + c), pow(ramp_at(r * COLUMNS + 1 + 3 * c), 2));
        }
        for (int i = 0; i < 12; i++) CHECK_EQ(at(u, i), sums[i] + 0.5);
        for (int i = 0; i < 4;
             i++) { // columns 6, 4, 2, 0 of what ran backwards: 1, 3, 5, 7
            CHECK_EQ(at(w, i), pow(ramp_at(COLUMNS + 1 + 2 * i), 2));
            CHECK_EQ(at(w, 4 + i), pow(ramp_at(4 * COLUMNS + 1 + 2 * i), 2));
        }
    }
    CHECK_EQ(count.runs, 2);
    tc_close(tc);
}

TEST(values_of_each_run) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_tensor x = ramp(tc, TC_DIMS(ROWS)), y, z;
    for (int k = 0; k < 5; k++) {
        tc_trace_begin_with(tc, "values", &o);
        tc_tensor rate = tc_scalar(tc, 0.25 * k, TC_F32), n = tc_scalar(tc, 3 * k, TC_I32);
        y = tc_add_s(tc_mul(x, rate), k); // k: a constant at first
        z = tc_cast(tc_mul(tc_cast(x, TC_I32), n), TC_F32);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        for (int i = 0; i < ROWS; i++) {
            CHECK_EQ(at(y, i), ramp_at(i) * 0.25 * k + k);
            CHECK_EQ(at(z, i), ramp_at(i) * 3 * k);
        }
    }
    CHECK_EQ(count.compiled, 2);
    tc_close(tc);
}

TEST(dtypes) {
    static const float in[5] = {-2.75f, -0.5f, 0, 0.5f, 3.25f};
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    uint8_t bytes[5];
    int32_t whole[5];
    double wide[5];
    tc_tensor x = tc_from_data(tc, in, TC_DIMS(5), TC_F32);
    tc_trace_begin_with(tc, "dtypes", &o);
    tc_tensor b = tc_cast(x, TC_BOOL), i = tc_cast(tc_neg(x), TC_I32);
    tc_tensor d = tc_mul_s(tc_cast(x, TC_F64), 0.1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(b, bytes, sizeof bytes), TC_OK);
    CHECK_EQ(tc_read(i, whole, sizeof whole), TC_OK);
    CHECK_EQ(tc_read(d, wide, sizeof wide), TC_OK);
    for (int k = 0; k < 5; k++) {
        CHECK_EQ(bytes[k], in[k] != 0);
        CHECK_EQ(whole[k], (int)-in[k]);
        CHECK(wide[k] == (double)in[k] * 0.1);
    }
    tc_close(tc);
}

static void blend(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_add_(in[1], in[0]);
    out[0] = tc_sum(tc_mul(in[0], in[1]), -1);
}

TEST(functions_writes_and_sizes) {
    static const int size[] = {4, 4, 4, 9, 9, 9, 4, 9};
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_fn *f = tc_compile(tc, blend, NULL, 0, &o);
    for (int k = 0; k < 8; k++) {
        int n = size[k];
        tc_tensor in[2], y;
        in[0] = ramp(tc, TC_DIMS(n)), in[1] = tc_transpose(ramp(tc, TC_DIMS(n, 3)), 0, 1);
        CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_OK);
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int c = 0; c < n; c++) {
                double written = ramp_at(c * 3 + r) + ramp_at(c);
                sum += ramp_at(c) * written;
                CHECK_EQ(at(in[1], r * n + c), written);
            }
            CHECK_EQ(at(y, r), sum);
        }
    }
    CHECK_EQ(count.compiled, 2);
    CHECK_EQ(count.runs, 8);
    CHECK_EQ(tc_stats_get(tc).skips, 4);
    tc_close(tc);
}

// ---- what goes wrong ----

// y = exp(x), which has no loop, and x is written.
static tc_status visit_exp(tc_ctx *tc, const tc_options *o, tc_tensor x, tc_tensor *y) {
    tc_trace_begin_at(tc, "growth", o, "backends.c", 7);
    *y = tc_exp(x);
    tc_add_s_(x, 1);
    return tc_trace_end(tc);
}

TEST(a_graph_that_is_refused) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops"), cpu = on("cpu"), interpreted = on("aot_eager");
    tc_tensor x = tc_zeros(tc, TC_DIMS(ROWS), TC_F32), y;
    for (int k = 0; k < 2; k++) { // it is asked again each time
        CHECK_EQ(visit_exp(tc, &o, x, &y), TC_E_COMPILER);
        const char *text = tc_error_text(tc);
        CHECK(strstr(text, "\"loops\"") && strstr(text, "\"growth\""));
        CHECK(strstr(text, "compile") && strstr(text, "TC_E_UNSUPPORTED"));
        CHECK(strstr(text, "it has no loop for \"exp\""));
        tc_error_clear(tc);
        CHECK_EQ(at(x, 3), 0);
        CHECK_EQ(tc_error(tc), TC_OK);
    }
    CHECK_EQ(visit_exp(tc, &interpreted, x, &y), TC_OK);
    CHECK_EQ(at(y, 3), 1);
    CHECK_EQ(visit_exp(tc, &cpu, x, &y), TC_OK);
    CHECK_EQ(at(x, 3), 2);
    CHECK_NEAR(at(y, 3), exp(1), 1e-6);
    CHECK_EQ(visit_exp(tc, &o, x, &y), TC_E_COMPILER);
    tc_error_clear(tc);
    CHECK_EQ(at(x, 3), 2);
    CHECK_EQ(warnings, 0);
    CHECK_EQ(count.compiled, 0);
    tc_close(tc);
    CHECK_EQ(count.forgotten, 0);
}

static void grow(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_mul_s_(in[0], 2);
    out[0] = tc_exp(in[0]);
}

TEST(a_function_that_is_refused) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_fn *f = tc_compile(tc, grow, NULL, 0, &o);
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    for (int k = 0; k < 3; k++) {
        y = x;
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_COMPILER);
        CHECK(strstr(tc_error_text(tc), "\"grow\""));
        CHECK(tc_is_null(y));
        tc_error_clear(tc);
        CHECK_EQ(at(x, 5), 1);
    }
    tc_close(tc);
}

TEST(a_refused_graph_with_suppressed_errors) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    o.suppress_errors = 1;
    tc_tensor x = tc_zeros(tc, TC_DIMS(ROWS), TC_F32), y;
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(visit_exp(tc, &o, x, &y), TC_OK);
        CHECK_NEAR(at(y, 2), exp(k), 1e-5);
        CHECK_EQ(at(x, 2), k + 1);
    }
    CHECK_EQ(warnings, 1);
    CHECK(strstr(warning, "\"loops\"") && strstr(warning, "\"growth\""));
    CHECK(strstr(warning, "it has no loop for \"exp\""));
    tc_fn *f = tc_compile(tc, grow, NULL, 0, &o);
    x = tc_ones(tc, TC_DIMS(ROWS), TC_F32);
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(at(x, 2), 2 << k);
    }
    CHECK_EQ(warnings, 2);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(count.runs, 0);
    tc_close(tc);
}

// y = x + 1 and x doubles.
static tc_status visit_plus(tc_ctx *tc, const tc_options *o, tc_tensor x, tc_tensor *y) {
    tc_trace_begin_at(tc, "plus", o, "backends.c", 8);
    *y = tc_add_s(x, 1);
    tc_mul_s_(x, 2);
    return tc_trace_end(tc);
}

TEST(a_run_that_fails) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    count.fail_at = 3, count.fails = TC_E_BACKEND;
    double want = 1;
    for (int k = 1; k < 6; k++) {
        tc_status s = visit_plus(tc, &o, x, &y);
        CHECK_EQ(s, k == 3 ? TC_E_COMPILER : TC_OK);
        if (s) {
            const char *text = tc_error_text(tc);
            CHECK(strstr(text, "\"loops\" could not run \"plus\": TC_E_BACKEND"));
            tc_error_clear(tc);
        } else {
            CHECK_EQ(at(y, 4), want + 1);
            want *= 2;
        }
        CHECK_EQ(at(x, 4), want);
    }
    CHECK_EQ(count.compiled, 1);
    CHECK_EQ(count.runs, 5);
    tc_close(tc);
    CHECK_EQ(count.forgotten, 1);
}

TEST(a_run_that_fails_with_suppressed_errors) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    o.suppress_errors = 1;
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    count.fail_at = 3, count.fails = TC_E_BACKEND;
    for (int k = 1; k < 6; k++) {
        CHECK_EQ(visit_plus(tc, &o, x, &y), TC_OK);
        CHECK_EQ(at(y, 4), (1 << (k - 1)) + 1);
        CHECK_EQ(at(x, 4), 1 << k);
    }
    CHECK_EQ(count.runs, 3); // the interpreter goes on
    CHECK_EQ(warnings, 1);
    CHECK(strstr(warning, "could not run \"plus\" (TC_E_BACKEND)"));
    CHECK(strstr(tc_explain(tc), "runs in the interpreter"));
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    CHECK_EQ(count.forgotten, 1);
}

// The value is wanted in the middle of a region: reading it fails, the region goes on.
TEST(a_break_that_is_refused) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32);
    tc_trace_begin_with(tc, "reads", &o);
    float first = -1;
    tc_tensor y = tc_exp(x);
    CHECK_EQ(tc_read(tc_slice(y, 0, 0, 1, 1), &first, sizeof first), TC_E_COMPILER);
    CHECK_EQ(first, -1);
    CHECK_EQ(tc_trace_end(tc), TC_E_COMPILER);
    CHECK(strstr(tc_error_text(tc), "\"reads\""));
    tc_error_clear(tc);
    CHECK_EQ(visit_plus(tc, &o, x, &y), TC_OK); // and all is well outside it
    CHECK_EQ(at(y, 0), 2);
    tc_close(tc);
}

// Refused where a program that waited is to get its code; another try comes with the next run.
TEST(a_program_that_waits_is_refused) {
    tc_ctx *tc = open_loops();
    tc_options o = on("loops");
    tc_tensor x = tc_zeros(tc, TC_DIMS(ROWS), TC_F32), y;
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    CHECK_EQ(visit_exp(tc, &o, x, &y), TC_OK);
    CHECK_EQ(at(y, 1), 1);
    tc_set_stance(tc, TC_STANCE_DEFAULT);
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(visit_exp(tc, &o, x, &y), TC_E_COMPILER);
        tc_error_clear(tc);
        CHECK_EQ(at(x, 1), 1);
    }
    o.suppress_errors = 1;
    CHECK_EQ(visit_exp(tc, &o, x, &y), TC_OK);
    CHECK_EQ(at(x, 1), 2);
    CHECK_EQ(warnings, 1);
    tc_close(tc);
}

// A compile that fails late: its state goes to forget all the same.
static tc_status late_compile(void *user, const tc_graph *g, void **state,
                              const char **why) {
    (void)user, (void)g;
    *state = malloc(1), *why = NULL;
    return TC_E_NOMEM;
}

static tc_status never_run(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state, (void)run;
    FAIL("a graph that was refused runs");
    return TC_OK;
}

static void free_state(void *user, void *state) {
    ++*(int *)user;
    free(state);
}

TEST(state_of_a_failed_compile) {
    int freed = 0;
    tc_ctx *tc = open_context();
    tc_backend b;
    memset(&b, 0, sizeof b);
    b.name = "late", b.user = &freed;
    b.compile = late_compile, b.run = never_run, b.forget = free_state;
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    tc_options o = on("late");
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    CHECK_EQ(visit_plus(tc, &o, x, &y), TC_E_COMPILER);
    CHECK(strstr(tc_error_text(tc), "\"late\" could not compile \"plus\": TC_E_NOMEM"));
    tc_error_clear(tc);
    CHECK_EQ(freed, 1);
    o.suppress_errors = 1;
    CHECK_EQ(visit_plus(tc, &o, x, &y), TC_OK);
    CHECK_EQ(at(y, 0), 2);
    tc_close(tc);
    CHECK_EQ(freed, 2);
}

// ---- the registry ----

static tc_status forward(void *user, void *state, const tc_graph_run *run) {
    (void)state;
    if (user) ++*(int *)user;
    return tc_graph_forward(run);
}

static tc_backend named(const char *name) {
    tc_backend b;
    memset(&b, 0, sizeof b);
    b.name = name, b.run = forward;
    return b;
}

static void refused(tc_ctx *tc, const tc_backend *b, tc_status status, const char *part) {
    CHECK_EQ(tc_register_backend(tc, b), status);
    CHECK_EQ(tc_error(tc), status);
    if (!strstr(tc_error_text(tc), part)) FAIL("no \"%s\" in %s", part, tc_error_text(tc));
    tc_error_clear(tc);
}

TEST(registering) {
    tc_ctx *tc = open_context();
    tc_backend b = named("mine");
    CHECK_EQ(tc_register_backend(NULL, &b), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_register_backend: ");
    refused(tc, NULL, TC_E_NULL, "the backend is missing");
    b.run = NULL;
    refused(tc, &b, TC_E_NULL, "its run is missing");
    b = named(NULL);
    refused(tc, &b, TC_E_NULL, "its name is missing");
    b = named("");
    refused(tc, &b, TC_E_NULL, "its name is missing");
    static const char *const ours[] = {"eager", "aot_eager", "cpu"};
    for (int i = 0; i < 3; i++) {
        b = named(ours[i]);
        refused(tc, &b, TC_E_ARG, ours[i]);
    }
    b = named("mine");
    tc_trace_begin(tc, "open");
    refused(tc, &b, TC_E_STATE, "a region is open");
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    refused(tc, &b, TC_E_ARG, "\"mine\"");
    CHECK_EQ(tc_list_backends(tc, NULL, 0), 4);
    tc_close(tc);
}

// Names, and all else but what `user` points at, are copied.
TEST(registered_backends_are_copied) {
    int runs = 0;
    char name[8] = "copied", doc[8] = "a text";
    tc_ctx *tc = open_context();
    tc_backend b = named(name);
    b.user = &runs, b.doc = doc;
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    memset(name, 'x', sizeof name - 1), memset(doc, 'x', sizeof doc - 1);
    memset(&b, 0, sizeof b);
    tc_options o = on("copied");
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    CHECK_EQ(visit_plus(tc, &o, x, &y), TC_OK);
    CHECK_EQ(runs, 1);
    tc_close(tc);
}

TEST(listing) {
    const char *names[8];
    tc_ctx *tc = open_context();
    tc_backend b = named("mine"), d = named("yours");
    CHECK_EQ(tc_list_backends(NULL, names, 8), 0);
    CHECK_EQ(tc_list_backends(tc, NULL, 8), 3);
    (void)tc_cuda_open(tc, 0); // whether there is a GPU or not
    tc_error_clear(tc);
    CHECK_EQ(tc_list_backends(tc, NULL, 8), 5);
    for (int i = 0; i < 8; i++) names[i] = "untouched";
    CHECK_EQ(tc_list_backends(tc, names, 2), 5);
    CHECK_STR(names[0], "eager");
    CHECK_STR(names[1], "aot_eager");
    CHECK_STR(names[2], "untouched");
    tc_register_backend(tc, &b);
    tc_register_backend(tc, &d);
    CHECK_EQ(tc_list_backends(tc, names, 8), 7);
    CHECK_STR(names[2], "cpu");
    CHECK_STR(names[3], "cuda");
    CHECK_STR(names[4], "cudagraphs");
    CHECK_STR(names[5], "mine");
    CHECK_STR(names[6], "yours");
    CHECK_STR(names[7], "untouched");
    tc_close(tc);
}

// Those of a device, where there is none: an error, and nothing is computed in their name.
TEST(backends_of_a_device_need_one) {
    static const char *const names[] = {"cuda", "cudagraphs"};
    for (int k = 0; k < 4; k++) {
        tc_config config = tc_config_default();
        const char *name = names[k % 2];
        if (k < 2) config.backend = name; // of the context; else of the region
        tc_ctx *tc = tc_open(&config);
        tc_options o = tc_options_default();
        if (k >= 2) o.backend = name;
        REQUIRE(tc);
        CHECK(!tc_compile(tc, blend, NULL, 0, &o));
        CHECK_EQ(tc_error(tc), TC_E_DEVICE);
        CHECK(strstr(tc_error_text(tc), "tc_compile") && strstr(tc_error_text(tc), name) &&
              strstr(tc_error_text(tc), "include tcompile_cuda.h") &&
              strstr(tc_error_text(tc), "tc_cuda_open"));
        tc_error_clear(tc);
        CHECK_EQ(tc_trace_begin_with(tc, "there", &o), TC_E_DEVICE);
        CHECK(strstr(tc_error_text(tc), "tc_trace_begin"));
        CHECK_EQ(tc_error_line(tc), __LINE__ - 2);
        tc_error_clear(tc);
        // The code runs op by op up to its end, which tells of what went wrong since the error was cleared.
        tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32);
        if (k >= 2) CHECK_EQ(at(tc_add_s(x, 1), 0), 2);
        if (k == 3) (void)tc_reshape(x, TC_DIMS(ROWS + 1));
        CHECK_EQ(tc_trace_end(tc), k == 3 ? TC_E_SHAPE : TC_OK);
        tc_error_clear(tc);
        CHECK_EQ(tc_trace_end(tc), TC_E_REGION); // it was ended
        tc_error_clear(tc);
        o.backend = "cpu";
        tc_fn *f = tc_compile(tc, blend, NULL, 0, &o);
        CHECK(f);
        tc_close(tc);
    }
}

TEST(unknown_backends_and_modes) {
    tc_ctx *tc = open_loops();
    tc_options o = on("nosuch");
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    for (int k = 0; k < 2; k++) {
        const char *known = k ? "default,reduce-overhead,max-autotune,max-autotune-no-"
                              : "eager, aot_eager, cpu, loops";
        CHECK(!tc_compile(tc, blend, NULL, 0, &o));
        CHECK_EQ(tc_error(tc), TC_E_ARG);
        CHECK(strstr(tc_error_text(tc), "tc_compile") &&
              strstr(tc_error_text(tc), "\"nosuch\"") && strstr(tc_error_text(tc), known));
        tc_error_clear(tc);

        CHECK_EQ(tc_trace_begin_with(tc, "unknown", &o), TC_E_ARG);
        CHECK(strstr(tc_error_text(tc), "tc_trace_begin") &&
              strstr(tc_error_text(tc), "\"nosuch\"") && strstr(tc_error_text(tc), known));
        CHECK_EQ(tc_error_line(tc), __LINE__ - 3);
        tc_error_clear(tc);
        y = tc_add_s(x, 1);
        CHECK_EQ(at(y, 3), 2); // at once, in its place
        tc_trace_begin(tc, "inner");
        y = tc_add_s(y, 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(at(y, 3), 3);
        CHECK_EQ(tc_stats_get(tc).visits, 0);
        CHECK_EQ(tc_trace_end(tc), TC_E_REGION); // that was all of them
        tc_error_clear(tc);
        o = tc_options_default(), o.mode = "nosuch";
    }
    o = on("cpu");
    CHECK_EQ(visit_plus(tc, &o, x, &y), TC_OK);
    CHECK_EQ(tc_stats_get(tc).visits, 1);
    tc_close(tc);
}

// A context's own default; a wrong one is found out where it is used.
TEST(the_backend_of_a_context) {
    tc_config config = tc_config_default();
    config.no_disk_cache = 1, config.backend = "loops";
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = tc_ones(tc, TC_DIMS(ROWS), TC_F32), y;
    CHECK_EQ(visit_plus(tc, NULL, x, &y),
             TC_E_ARG); // eager; its end says why, as its begin has
    CHECK_EQ(tc_error(tc), TC_E_ARG);
    tc_error_clear(tc);
    tc_backend b = loops();
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    CHECK_EQ(visit_plus(tc, NULL, x, &y), TC_OK);
    CHECK_EQ(at(y, 0), 3);
    CHECK_EQ(count.runs, 1);
    tc_ctx *child = tc_open_shared(tc); // has the same
    tc_tensor z = tc_ones(child, TC_DIMS(ROWS), TC_F32);
    CHECK_EQ(visit_plus(child, NULL, z, &y), TC_OK);
    CHECK_EQ(at(y, 0), 2);
    CHECK_EQ(count.runs, 2);
    CHECK_EQ(tc_list_backends(child, NULL, 0), 4);
    tc_close(child);
    tc_close(tc);
    CHECK_EQ(count.forgotten, 2);
}

// ---- changing it ----

TEST(another_backend_at_each_visit) {
    static const char *const names[] = {"cpu",   "loops", "aot_eager",
                                        "eager", "loops", "cpu"};
    tc_ctx *tc = open_loops();
    tc_tensor x = ramp(tc, TC_DIMS(ROWS, COLUMNS)), a = ramp(tc, TC_DIMS(COLUMNS));
    for (int k = 0; k < 6; k++) {
        tc_options o = on(names[k]);
        for (int again = 0; again < 2; again++) {
            tc_trace_begin_at(tc, "changes", &o, "backends.c", 9);
            tc_tensor y = tc_sum(tc_relu(tc_mul(x, a)), 1);
            CHECK_EQ(tc_trace_end(tc), TC_OK);
            double want = 0;
            for (int c = 0; c < COLUMNS; c++) {
                double v = ramp_at(2 * COLUMNS + c) * ramp_at(c);
                want += v > 0 ? v : 0;
            }
            CHECK_EQ(at(y, 2), want);
        }
        CHECK_EQ(tc_stats_get(tc).programs, k + 1); // made again, used twice
        const char *text = tc_explain(tc);
        int foreign = !strcmp(names[k], "loops"), cpu = !strcmp(names[k], "cpu");
        CHECK_EQ(strstr(text, "backend \"loops\" has the graph") != NULL, foreign);
        if (!tc_stats_get(tc).fallbacks)
            CHECK_EQ(strstr(text, "runs compiled") != NULL, cpu);
        CHECK_EQ(strstr(text, "runs in the interpreter") != NULL, !foreign && !cpu);
    }
    CHECK_EQ(count.compiled, 2);
    CHECK_EQ(count.runs, 4);
    CHECK_EQ(count.forgotten, 2);
    tc_close(tc);
}

// A path with run-time sizes, made for one backend, visited on another: for one set of sizes there.
TEST(another_backend_on_a_path_with_run_time_sizes) {
    static const char *const names[] = {"cpu", "loops", "cpu"};
    tc_ctx *tc = open_loops();
    for (int k = 0; k < 3; k++) {
        tc_options o = on(names[k]);
        for (int i = 0; i < 6; i++) {
            int n = 4 + i % 3;
            tc_tensor x = ramp(tc, TC_DIMS(n, 2));
            tc_trace_begin_at(tc, "sized", &o, "backends.c", 10);
            tc_tensor y = tc_slice(tc_reshape(tc_neg(x), TC_DIMS(2 * n)), 0, n, TC_END, 1);
            y = tc_add_s(y, 1);
            CHECK_EQ(tc_trace_end(tc), TC_OK);
            CHECK_EQ(tc_numel(y), n);
            for (int e = 0; e < n; e++) CHECK_EQ(at(y, e), 1 - ramp_at(n + e));
        }
        if (k == 0) CHECK_EQ(tc_stats_get(tc).programs, 2);
    }
    CHECK_EQ(count.runs, 6);
    if (!tc_stats_get(tc).fallbacks) CHECK(strstr(tc_explain(tc), "runs compiled"));
    tc_close(tc);
    CHECK_EQ(count.forgotten, count.compiled);
}

// ---- texts ----

static char graph_text[2000];
static int c_ok, cuda_ok, cuda_known, refused_ok;

static tc_status text_compile(void *user, const tc_graph *g, void **state,
                              const char **why) {
    (void)user, (void)state, (void)why;
    const char *text = tc_graph_text(g);
    snprintf(graph_text, sizeof graph_text, "%s", text ? text : "(null)");
    const char *c = tc_graph_source(g, "c");
    c_ok = c && strstr(c, "void kernel_0(") && strstr(c, "tc_kargs");
    const char *cuda = tc_graph_source(g, "cuda");
    cuda_known = cuda != NULL;
    cuda_ok = cuda && strstr(cuda, "__global__") && strstr(cuda, "kernel_0");
    refused_ok = !tc_graph_source(g, "nosuch") && !tc_graph_source(g, NULL);
    const char *again = tc_graph_text(g);
    refused_ok &= again && !strcmp(again, graph_text);
    return TC_OK;
}

TEST(texts_of_a_graph) {
    tc_ctx *tc = open_context();
    tc_backend b = named("texts");
    b.compile = text_compile;
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    tc_options o = on("texts");
    tc_tensor x = ramp(tc, TC_DIMS(20, 8));
    tc_trace_begin_with(tc, "texts", &o);
    tc_sum(tc_mul_s(x, 2), 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_STR(graph_text, "%0 = input x0                     f32[20,8]\n"
                          "%1 = const 2                      f32[]\n"
                          "%2 = reshape %1                   f32[1,1]\n"
                          "%3 = expand %2                    f32[20,8]\n"
                          "%4 = mul %0 %3                    f32[20,8]\n"
                          "%5 = sum %4 dims=2                f32[20,1]\n"
                          "%6 = reshape %5                   f32[20]\n"
                          "return %6\n");
    if (TC__JIT) CHECK(c_ok);
    CHECK(!cuda_known); // nobody spoke of CUDA
    CHECK(refused_ok);
    (void)tc_cuda_open(tc, 0); // whether there is a GPU or not
    tc_error_clear(tc);
    tc_trace_begin_with(tc, "texts of CUDA", &o);
    tc_sum(tc_mul_s(x, 2), 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK(cuda_known && cuda_ok);
    CHECK(!tc_graph_text(NULL));
    CHECK(!tc_graph_source(NULL, "c"));
    CHECK_EQ(tc_graph_forward(NULL), TC_E_NULL);
    tc_close(tc);
}

// ---- ours against each other ----

// Results of a region with many kinds of kernels, as bytes.
static size_t workload(tc_ctx *tc, const char *backend, char *out, int *kernels) {
    tc_options o = on(backend);
    tc_manual_seed(tc, 3);
    tc_tensor x = tc_randn(tc, TC_DIMS(24, 40), TC_F32), y[4];
    tc_trace_begin_at(tc, backend, &o, "backends.c", 11);
    y[0] = tc_softmax(tc_mul_s(x, 3), -1);
    y[1] = tc_gelu(tc_matmul(x, tc_transpose(x, 0, 1)));
    y[2] = tc_var(tc_cat(y, 1, 1), 0, 1);
    y[3] =
        tc_cast(tc_argmax(tc_add(tc_sin(x), tc_rand(tc, TC_DIMS(40), TC_F32)), 0), TC_F64);
    for (int i = 0; i < 4; i++) tc_keep(y[i]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    size_t used = 0;
    for (int i = 0; i < 4; i++) {
        size_t n = (size_t)tc_numel(y[i]) * tc_dtype_bytes(tc_dtype_of(y[i]));
        CHECK_EQ(tc_read(y[i], out + used, n), TC_OK);
        used += n;
        tc_free(y[i]);
    }
    *kernels = tc_region_kernels(tc, backend);
    return used;
}

TEST(ours_give_the_same_bits) {
    static const char *const names[] = {"eager", "aot_eager", "cpu"};
    static char bytes[3][1 << 14];
    size_t size[3];
    int kernels[3];
    tc_ctx *tc = open_context();
    for (int i = 0; i < 3; i++) size[i] = workload(tc, names[i], bytes[i], &kernels[i]);
    CHECK(size[0] > 4 * 24 * 40);
    for (int i = 1; i < 3; i++) {
        CHECK_EQ(size[i], size[0]);
        CHECK_BYTES(bytes[i], bytes[0], size[0]);
    }
    CHECK(kernels[0] > 2 * kernels[1]);
    CHECK_EQ(kernels[1], kernels[2]);
    tc_close(tc);
}

TEST(eager_has_a_kernel_for_each_op) {
    static const char *const names[] = {"eager", "aot_eager", "cpu"};
    tc_ctx *tc = open_context();
    tc_tensor x = ramp(tc, TC_DIMS(ROWS, COLUMNS));
    for (int i = 0; i < 3; i++) {
        tc_options o = on(names[i]);
        tc_trace_begin_at(tc, names[i], &o, "backends.c", 12);
        tc_tensor y = tc_neg(tc_square(tc_neg(tc_neg(tc_add_s(x, 3)))));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        for (int e = 0; e < ROWS * COLUMNS; e++)
            CHECK_EQ(at(y, e), -(ramp_at(e) + 3) * (ramp_at(e) + 3));
        // add neg neg square neg; elsewhere a rule takes out the two in the middle
        CHECK_EQ(tc_region_kernels(tc, names[i]), i ? 1 : 5);
        CHECK_EQ(strstr(tc_explain(tc), "runs compiled") != NULL,
                 i == 2 && !tc_stats_get(tc).fallbacks);
    }
    tc_close(tc);
}

// ---- memory that ends ----

static int left = -1; // allocations until they fail; -1 = never

static void *limited(void *user, void *p, size_t old, size_t size) {
    (void)user;
    if (size && left == 0) return NULL;
    if (size && left > 0) left--;
    return checked_realloc(p, old, size);
}

static tc_status text_of(void *user, const tc_graph *g, void **state, const char **why) {
    (void)user, (void)why;
    if (!tc_graph_text(g) || !tc_graph_source(g, "c")) return TC_E_NOMEM;
    *state = malloc(1);
    return TC_OK;
}

static void drop(void *user, void *state) { (void)user, free(state); }

// At each allocation of registering, of a first visit and of a later one: what fails says so and leaves
// its inputs; what does not is right; nothing is lost.
TEST(out_of_memory) {
    int failed = 0, good = 0;
    for (int k = 0; k < 2000 && good < 3; k++) {
        tc_config config = tc_config_default();
        config.threads = 1, config.no_disk_cache = 1, config.logger.log = on_log;
        config.allocator.realloc = limited;
        tc_ctx *tc = tc_open(&config);
        tc_tensor wide = tc_ones(tc, TC_DIMS(ROWS, 2), TC_F32), y;
        tc_tensor x = tc_select(wide, 1, 1); // strided: it is copied for the backend
        tc_backend b = named("poor");
        b.doc = "of few means", b.compile = text_of, b.forget = drop;
        tc_options o = on("poor");
        double want = 1;
        left = k;
        tc_status s = tc_register_backend(tc, &b);
        for (int n = 0; n < 3 && !s; n++) {
            s = tc_trace_begin_with(tc, "poor", &o);
            if (s) break;
            y = tc_add_s(x, 1);
            tc_mul_s_(x, 2);
            s = tc_trace_end(tc);
            if (s) break;
            int kept = left;
            left = -1;
            CHECK_EQ(at(y, 1), want + 1);
            want *= 2, left = kept;
        }
        int ended = left == 0;
        left = -1;
        tc_error_clear(tc); // until then what was to be written is not read
        if (s) CHECK(ended && (s == TC_E_NOMEM || s == TC_E_COMPILER));
        CHECK_EQ(at(x, 2), want);
        CHECK_EQ(at(wide, 4), 1);
        failed += s != TC_OK, good += !s && !ended;
        tc_close(tc);
    }
    CHECK(failed > 50);
    CHECK_EQ(good, 3);
}

// ---- what its functions must not do ----

static tc_ctx *used;
static tc_tensor used_x;
static int uses_refused;

static void use(void) {
    uses_refused += tc_reset(used) == TC_E_STATE;
    uses_refused += !tc_add_s(used_x, 1).id;
    uses_refused += tc_trace_begin(used, "inside") == TC_E_STATE;
    tc_error_clear(used);
}

static tc_status compile_uses(void *user, const tc_graph *graph, void **state,
                              const char **why) {
    (void)user, (void)graph, (void)why;
    use();
    *state = used;
    return TC_OK;
}

static tc_status run_uses(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state;
    use();
    return tc_graph_forward(run);
}

static void forget_uses(void *user, void *state) {
    (void)user, (void)state;
    use();
}

static void plus_two(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[0], 2);
}

TEST(its_functions_must_not_use_the_context) {
    tc_ctx *tc = open_backend("cpu");
    tc_backend b;
    tc_options o = tc_options_default();
    memset(&b, 0, sizeof b);
    b.name = o.backend = "user", b.compile = compile_uses, b.run = run_uses;
    b.forget = forget_uses;
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    used = tc, used_x = line(tc, 8, 0, 1), uses_refused = 0;
    tc_fn *f = tc_compile(tc, plus_two, NULL, 0, &o);
    for (int k = 0; k < 4; k++) {
        tc_tensor y;
        CALL(f, &used_x, 1, &y, 1);
        CHECK_EQ(AT(y, 2), 4);
    }
    CHECK_EQ(uses_refused, 3 * (1 + 4));
    tc_fn_free(f);
    CHECK_EQ(uses_refused, 3 * (1 + 4 + 1));
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}
