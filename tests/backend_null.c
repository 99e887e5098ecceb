// The seam of backends: one that does nothing but forward must not be noticed. Every scene runs on
// "aot_eager" and on that backend; statuses and results have to be the same bits. Beside that each
// scene checks some values itself, so that both being wrong is seen too. The backend checks what it
// is given: graphs and runs that fit together, and calls in pairs.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <math.h>

// ---- the backend ----

typedef struct witness {
    int compiled, forgotten, runs;
    int last_nodes, last_inputs, last_outputs;
} witness;

// What the backend has of one graph.
typedef struct made {
    const tc_graph *graph;
    witness *of;
    int runs;
} made;

static void check_node(const tc_graph *g, int i) {
    const tc_graph_node *n = &g->node[i];
    CHECK(n->op && *n->op && n->spec.rank >= 0 && n->spec.rank <= TC_MAX_RANK);
    for (int k = 0; k < n->n_in; k++) CHECK(n->in[k] >= 0 && n->in[k] < i);
    for (int d = 0; d < TC_MAX_RANK; d++)
        CHECK(d < n->spec.rank ? n->spec.dims[d] >= 0 : n->spec.dims[d] == 0);
}

static tc_status null_compile(void *user, const tc_graph *g, void **state,
                              const char **why) {
    witness *w = (witness *)user;
    made *m = (made *)calloc(1, sizeof *m);
    int inputs = 0;
    CHECK(m && g->name && g->n_node >= 0 && !*why && !*state);
    for (int i = 0; i < g->n_node; i++) {
        check_node(g, i);
        if (strcmp(g->node[i].op, "input")) continue;
        if (CHECK(inputs < g->n_input)) CHECK_EQ(g->input[inputs], i);
        inputs++;
    }
    CHECK_EQ(inputs, g->n_input);
    for (int i = 0; i < g->n_output; i++) {
        CHECK(g->output[i] >= 0 && g->output[i] < g->n_node);
        for (int k = 0; k < i; k++) CHECK(g->output[k] != g->output[i]);
    }
    w->compiled++, w->last_nodes = g->n_node;
    w->last_inputs = g->n_input, w->last_outputs = g->n_output;
    m->graph = g, m->of = w, *state = m;
    return TC_OK;
}

// A buffer holds what its node says; memory is there where elements are.
static void check_buffer(const tc_graph *g, int node, const tc_buffer *b) {
    int64_t n = 1;
    CHECK(!memcmp(&b->spec, &g->node[node].spec, sizeof b->spec));
    for (int d = 0; d < b->spec.rank; d++) n *= b->spec.dims[d];
    CHECK(!n || (b->data && (uintptr_t)b->data % tc_dtype_bytes(b->spec.dtype) == 0));
}

static tc_status null_run(void *user, void *state, const tc_graph_run *r) {
    made *m = (made *)state;
    CHECK(m && m->of == user);
    const tc_graph *g = m->graph;
    CHECK_EQ(r->n_in, g->n_input);
    CHECK_EQ(r->n_out, g->n_output);
    for (int i = 0; i < r->n_in; i++) check_buffer(g, g->input[i], &r->in[i]);
    for (int i = 0; i < r->n_out; i++) check_buffer(g, g->output[i], &r->out[i]);
    m->runs++, m->of->runs++;
    return tc_graph_forward(r);
}

static void null_forget(void *user, void *state) {
    made *m = (made *)state;
    CHECK(m && m->of == user);
    m->of->forgotten++;
    memset(m, 0, sizeof *m); // a run after this is seen
    free(m);
}

static tc_status null_register(tc_ctx *tc, witness *w) {
    tc_backend b;
    memset(&b, 0, sizeof b);
    b.name = "null", b.user = w;
    b.compile = null_compile, b.run = null_run, b.forget = null_forget;
    return tc_register_backend(tc, &b);
}

// ---- scenes: what they see goes to a log ----

enum { MOST = 1 << 16 };

typedef struct scene {
    tc_ctx *tc;
    witness *w; // NULL = this is the run on "aot_eager"
    tc_options o;
    size_t size;
    char log[MOST];
} scene;

static void note(scene *s, const void *at, size_t bytes) {
    if (!CHECK(s->size + bytes <= MOST)) return;
    if (bytes) memcpy(s->log + s->size, at, bytes);
    s->size += bytes;
}

static void note_status(scene *s, tc_status status) { note(s, &status, sizeof status); }

// dtype, sizes and elements of a tensor.
static void note_tensor(scene *s, tc_tensor t) {
    char data[1 << 13];
    tc_dims d = tc_shape(t);
    int dtype = (int)tc_dtype_of(t);
    size_t bytes = (size_t)tc_numel(t) * tc_dtype_bytes(tc_dtype_of(t));
    if (!CHECK(!tc_is_null(t) && bytes <= sizeof data)) return;
    CHECK_EQ(tc_read(t, data, bytes), TC_OK);
    note(s, &dtype, sizeof dtype);
    note(s, &d, sizeof d);
    note(s, data, bytes);
}

static double at(tc_tensor t, int i) {
    float x[2048];
    size_t n = (size_t)tc_numel(t);
    if (n > 2048 || tc_dtype_of(t) != TC_F32 || tc_read(t, x, n * sizeof *x)) return NAN;
    return (double)x[i];
}

// f32 of these sizes: from, from + 1, ...
static tc_tensor ramp(scene *s, tc_dims d, double from) {
    float x[2048];
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    for (int64_t i = 0; i < n; i++) x[i] = (float)(from + (double)i);
    return tc_from_data(s->tc, x, d, TC_F32);
}

static tc_fn *function(scene *s, tc_body body, void *user, size_t bytes) {
    return tc_compile(s->tc, body, user, bytes, &s->o);
}

#define BEGIN(s, name) CHECK_EQ(tc_trace_begin_with((s)->tc, name, &(s)->o), TC_OK)
#define END(s)         note_status(s, tc_trace_end((s)->tc))

static void quiet(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)level, (void)channel, (void)text;
}

static void run_scene(scene *s, void (*play)(scene *), witness *w) {
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1, config.logger.log = quiet;
    s->tc = tc_open(&config), s->size = 0, s->w = w;
    s->o = tc_options_default();
    s->o.backend = w ? "null" : "aot_eager";
    if (w) CHECK_EQ(null_register(s->tc, w), TC_OK);
    CHECK_EQ(tc_manual_seed(s->tc, 5), TC_OK);
    play(s);
    CHECK_EQ(tc_stats_get(s->tc).kernels_made, 0);
    note_status(s, tc_error(s->tc));
    if (w) CHECK(w->compiled > 0 && w->runs >= w->compiled);
    tc_close(s->tc);
    if (w) CHECK_EQ(w->forgotten, w->compiled);
}

static scene plain, forwarded;

static void compare(void (*play)(scene *)) {
    witness w;
    memset(&w, 0, sizeof w);
    run_scene(&plain, play, NULL);
    run_scene(&forwarded, play, &w);
    CHECK_EQ(plain.size, forwarded.size);
    CHECK(plain.size > 0);
    CHECK_BYTES(forwarded.log, plain.log, plain.size);
}

#define SCENE(name)                                                                        \
    static void name(scene *s);                                                            \
    TEST(name) { compare(name); }                                                          \
    static void name(scene *s)

// What the backend counted, where this run is on it.
#define COUNT(s, field, n)                                                                 \
    do {                                                                                   \
        if ((s)->w) CHECK_EQ((s)->w->field, n);                                            \
    } while (0)

// ---- regions and functions ----

SCENE(a_region) {
    for (int k = 0; k < 4; k++) {
        tc_tensor x = ramp(s, TC_DIMS(6, 8), k), y, z;
        BEGIN(s, "softmax and sum");
        y = tc_softmax(tc_mul_s(x, 0.25), -1);
        z = tc_sum(tc_square(x), 1);
        END(s);
        note_tensor(s, y), note_tensor(s, z);
        double want = 0;
        for (int i = 0; i < 8; i++) want += (k + i) * (k + i);
        CHECK_EQ(at(z, 0), want);
        CHECK_EQ(tc_region_kernels(s->tc, "softmax and sum") > 0, 1);
    }
    COUNT(s, compiled, 1);
    COUNT(s, runs, 4);
    COUNT(s, last_inputs, 1);
}

static int bodies;

static void affine(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    bodies++;
    out[0] = tc_add_s(tc_mul_s(in[0], *(const double *)user), 1);
    out[1] = tc_amax(in[0], -1);
}

SCENE(a_function) {
    double by = 3;
    tc_tensor y[2];
    bodies = 0;
    tc_fn *f = function(s, affine, &by, sizeof by);
    for (int k = 0; k < 5; k++) {
        tc_tensor x = ramp(s, TC_DIMS(4, 5), k);
        note_status(s, tc_call(f, &x, 1, y, 2));
        note_tensor(s, y[0]), note_tensor(s, y[1]);
        CHECK_EQ(at(y[0], 7), (k + 7) * by + 1);
        CHECK_EQ(at(y[1], 1), k + 9);
    }
    CHECK_EQ(bodies, 2); // then it is skipped, here too
    COUNT(s, runs, 5);
    tc_fn_free(f);
    COUNT(s, forgotten, 1);
}

SCENE(call_into) {
    double by = 2;
    tc_fn *f = function(s, affine, &by, sizeof by);
    tc_tensor wide = ramp(s, TC_DIMS(4, 10), 0), max = ramp(s, TC_DIMS(4), 0), to[2];
    to[0] = tc_slice(wide, 1, 1, 10, 2), to[1] = max; // every second column
    for (int k = 0; k < 4; k++) {
        tc_tensor x = ramp(s, TC_DIMS(4, 5), k);
        note_status(s, tc_call_into(f, &x, 1, to, 2));
        note_tensor(s, wide), note_tensor(s, max);
        CHECK_EQ(at(wide, 10), 10); // between them nothing is touched
        CHECK_EQ(at(wide, 13), (k + 6) * by + 1);
        CHECK_EQ(at(max, 3), k + 19);
    }
}

static void calls_affine(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y[2];
    (void)tc;
    tc_call((tc_fn *)user, in, 1, y, 2);
    out[0] = tc_mul(y[0], tc_unsqueeze(y[1], -1));
}

// The outer one's backend counts; the inner function is a part of its graph.
SCENE(a_function_in_a_function) {
    double by = 2;
    tc_fn *f = function(s, affine, &by, sizeof by), *g = function(s, calls_affine, f, 0);
    for (int k = 0; k < 4; k++) {
        tc_tensor x = ramp(s, TC_DIMS(4, 5), k), y;
        note_status(s, tc_call(g, &x, 1, &y, 1));
        note_tensor(s, y);
        CHECK_EQ(at(y, 6), ((k + 6) * by + 1) * (k + 9));
    }
    COUNT(s, compiled, 1);
}

SCENE(captured_tensors) {
    double by = 2;
    tc_tensor held = ramp(s, TC_DIMS(5), 10);
    tc_fn *f = function(s, affine, &by, sizeof by);
    for (int k = 0; k < 4; k++) {
        tc_tensor y[2];
        by = k < 2 ? 2 : 3; // other bytes: another value in the graph
        note_status(s, tc_call(f, &held, 1, y, 2));
        note_tensor(s, y[0]);
        CHECK_EQ(at(y[0], 4), 14 * by + 1);
    }
}

// ---- breaks ----

SCENE(graph_breaks) {
    for (int k = 0; k < 6; k++) {
        tc_tensor x = ramp(s, TC_DIMS(7), k - 3), y, z;
        BEGIN(s, "broken");
        y = tc_exp(tc_mul_s(x, 0.125)); // used on both sides
        z = tc_sum_all(x);
        double total = tc_item(z);
        y = total > 0 ? tc_add(y, z) : tc_sub(y, z);
        END(s);
        note(s, &total, sizeof total);
        note_tensor(s, y);
        CHECK_EQ(total, 7 * (k - 3) + 21);
        CHECK(fabs(at(y, 0) - (exp((k - 3) * 0.125) + fabs(total))) < 1e-4);
    }
}

SCENE(a_break_that_reads_a_view) {
    for (int k = 0; k < 4; k++) {
        float got[3];
        tc_tensor x = ramp(s, TC_DIMS(3, 4), k), y;
        BEGIN(s, "reads");
        y = tc_mul_s(x, 2);
        CHECK_EQ(tc_read(tc_select(y, 1, 2), got, sizeof got), TC_OK);
        tc_tensor z = tc_add_s(tc_transpose(y, 0, 1), 1);
        END(s);
        note(s, got, sizeof got);
        note_tensor(s, z);
        CHECK_EQ(got[1], 2 * (k + 6));
        CHECK_EQ(at(z, 5), 2 * (k + 9) + 1);
    }
}

// ---- writes, views ----

SCENE(in_place_writes) {
    tc_tensor x = ramp(s, TC_DIMS(4, 6), 0), m = ramp(s, TC_DIMS(24), 100), y;
    for (int k = 0; k < 4; k++) {
        BEGIN(s, "writes");
        tc_add_s_(x, 1);
        tc_copy_(tc_slice(x, 0, 0, 4, 2), tc_full(s->tc, TC_DIMS(1, 6), k, TC_F32));
        y = tc_sum(x, 1); // sees both
        tc_mul_(tc_transpose(tc_reshape(m, TC_DIMS(4, 6)), 0, 1),
                tc_full(s->tc, TC_DIMS(4), 2, TC_F32));
        END(s);
        note_tensor(s, x), note_tensor(s, m), note_tensor(s, y);
        CHECK_EQ(at(x, 1), k);
        CHECK_EQ(at(x, 7), 7 + k + 1);
        CHECK_EQ(at(y, 2), 6 * k);
        CHECK_EQ(at(m, 5), 105 * (2 << k));
    }
    COUNT(s, compiled, 2); // k becomes a value of each run
}

// The value written is an input as it is; a tensor and its own reverse.
SCENE(writes_without_arithmetic) {
    tc_tensor a = ramp(s, TC_DIMS(5), 1), b = ramp(s, TC_DIMS(5), 50);
    for (int k = 0; k < 3; k++) {
        tc_tensor x = ramp(s, TC_DIMS(5), 9 * k);
        BEGIN(s, "copies");
        tc_copy_(a, x);
        tc_copy_(b, tc_flip(b, TC_DIMS(0)));
        END(s);
        note_tensor(s, a), note_tensor(s, b);
        CHECK_EQ(at(a, 2), 9 * k + 2);
        CHECK_EQ(at(b, 0), k % 2 ? 50 : 54);
    }
}

SCENE(views_as_inputs) {
    tc_tensor x = ramp(s, TC_DIMS(6, 8), 0), v[5];
    v[0] = tc_transpose(x, 0, 1);
    v[1] = tc_slice(x, 1, 1, 8, 3);
    v[2] = tc_flip(x, TC_DIMS(0, 1));
    v[3] = tc_expand(tc_slice(x, 0, 2, 3, 1), TC_DIMS(4, 8));
    v[4] = tc_select(x, 1, 5);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 2; k++) {
            tc_tensor y, z;
            BEGIN(s, "views");
            y = tc_add_s(v[i], 1);
            z = tc_sum_all(tc_mul(y, v[i]));
            END(s);
            note_tensor(s, y), note_tensor(s, z);
            static const double second[5] = {9, 5, 47, 18, 14};
            CHECK_EQ(at(y, 1), second[i]);
        }
    }
}

SCENE(views_as_outputs) {
    tc_tensor x = ramp(s, TC_DIMS(4, 6), 0);
    for (int k = 0; k < 3; k++) {
        tc_tensor of_input, of_result, y;
        BEGIN(s, "shows");
        of_input = tc_transpose(x, 0, 1);
        y = tc_keep(tc_mul_s(x, 2));
        of_result = tc_slice(y, 1, 2, 6, 2);
        END(s);
        note_tensor(s, of_input), note_tensor(s, of_result), note_tensor(s, y);
        CHECK_EQ(at(of_input, 1), 6);
        CHECK_EQ(at(of_result, 3), 2 * 10);
        tc_free(y);
    }
}

// Nothing is left to compute.
SCENE(only_views) {
    tc_tensor x = ramp(s, TC_DIMS(4, 6), 0);
    for (int k = 0; k < 3; k++) {
        tc_tensor y;
        BEGIN(s, "only");
        y = tc_select(tc_transpose(x, 0, 1), 0, 3);
        END(s);
        note_tensor(s, y);
        CHECK_EQ(at(y, 1), 9);
    }
    COUNT(s, last_outputs, 0);
}

SCENE(outputs_that_are_one_node) {
    for (int k = 0; k < 3; k++) {
        tc_tensor x = ramp(s, TC_DIMS(20), k), a, b, c;
        BEGIN(s, "equal");
        a = tc_mul_s(tc_add_s(x, 1), 2), b = tc_mul_s(tc_add_s(x, 1), 2);
        c = tc_neg(tc_neg(b)); // rules make it b
        END(s);
        note_tensor(s, a), note_tensor(s, c);
        CHECK_EQ(at(a, 3), 2 * (k + 4));
        tc_add_s_(a, 100); // memory of its own
        CHECK_EQ(at(c, 3), 2 * (k + 4));
        CHECK_EQ(at(a, 3), 2 * (k + 4) + 100);
    }
    COUNT(s, last_outputs, 1);
}

// ---- sizes and values ----

SCENE(run_time_sizes) {
    static const int size[] = {8, 5, 8, 13, 5, 13, 8};
    for (int i = 0; i < 7; i++) {
        int n = size[i];
        tc_tensor x = ramp(s, TC_DIMS(n, 4), i), y, z;
        BEGIN(s, "sizes");
        y = tc_reshape(tc_add_s(x, 1), TC_DIMS(n * 2, 2));
        z = tc_mean_all(x);
        END(s);
        note_tensor(s, y), note_tensor(s, z);
        CHECK_EQ(at(y, n * 4 - 1), i + n * 4);
        CHECK_EQ(at(z, 0), i + (n * 4 - 1) / 2.);
    }
    COUNT(s, compiled, 3); // one for each, kept
}

// Values are promoted, sizes are not: a program for each size, whatever the value.
SCENE(sizes_and_values) {
    for (int k = 0; k < 9; k++) {
        int n = 3 + k % 3;
        tc_tensor x = ramp(s, TC_DIMS(n), 0), y;
        BEGIN(s, "both");
        y = tc_mul_s(x, k + 0.5);
        END(s);
        note_tensor(s, y);
        CHECK_EQ(at(y, n - 1), (n - 1) * (k + 0.5));
    }
    COUNT(s, compiled, 6); // and the first value of each size is a constant
}

// Past recompile_limit all sizes are interpreted, by one program.
SCENE(more_sizes_than_the_limit) {
    s->o.recompile_limit = 3;
    for (int k = 0; k < 24; k++) {
        int n = 3 + k % 12;
        tc_tensor x = ramp(s, TC_DIMS(n, 2), k), y, z;
        BEGIN(s, "limited");
        y = tc_sum(x, 0);
        z = tc_reshape(tc_neg(x), TC_DIMS(2 * n));
        END(s);
        note_tensor(s, y), note_tensor(s, z);
        CHECK_EQ(at(y, 1), n * (k + 1) + n * (n - 1));
    }
    COUNT(s, compiled, 3);
    COUNT(s, runs, 6);
    if (s->w) CHECK(tc_stats_get(s->tc).programs <= 6);
}

SCENE(functions_of_many_sizes) {
    double by = 3;
    static const int size[] = {8, 8, 5, 5, 5, 8, 13, 13, 13, 5, 8, 1, 1, 1, 0, 0, 0};
    tc_fn *f = function(s, affine, &by, sizeof by);
    for (int i = 0; i < 17; i++) {
        int n = size[i];
        tc_tensor x = ramp(s, TC_DIMS(n, 4), i), y[2];
        note_status(s, tc_call(f, &x, 1, y, 2));
        note_tensor(s, y[0]), note_tensor(s, y[1]);
        if (n) CHECK_EQ(at(y[0], n * 4 - 1), (i + n * 4 - 1) * by + 1);
    }
    COUNT(s, compiled, 5);
}

SCENE(marked_sizes) {
    s->o.dynamic = TC_DYNAMIC_ON;
    for (int n = 3; n < 7; n++) {
        tc_tensor x = ramp(s, TC_DIMS(n), 0), y;
        tc_mark_dynamic(x, 0, 0, 0);
        BEGIN(s, "marked");
        y = tc_sum_all(tc_square(x));
        END(s);
        note_tensor(s, y);
        CHECK_EQ(at(y, 0), (n - 1) * n * (2 * n - 1) / 6);
    }
}

SCENE(run_time_values) {
    for (int k = 0; k < 5; k++) {
        tc_tensor x = ramp(s, TC_DIMS(6), 0), y, z;
        BEGIN(s, "values");
        tc_tensor rate = tc_scalar(s->tc, 0.5 * k, TC_F32);
        tc_tensor count = tc_scalar(s->tc, -k, TC_I64);
        y = tc_mul(x, rate);
        z = tc_add(tc_to_i32(x), count);
        x = tc_add_s(x, k + 0.25); // promoted at the second value
        END(s);
        note_tensor(s, x), note_tensor(s, y), note_tensor(s, z);
        CHECK_EQ(at(x, 5), k + 5.25);
        CHECK_EQ(at(y, 5), 2.5 * k);
    }
    COUNT(s, compiled, 2);
}

// ---- random numbers, dtypes, sizes of nothing ----

static void noise(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_add(in[0], tc_randn(tc, TC_DIMS(50), TC_F32));
    out[1] = tc_rand(tc, TC_DIMS(50), TC_F64);
}

SCENE(random_ops) {
    tc_fn *f = function(s, noise, NULL, 0);
    tc_tensor x = ramp(s, TC_DIMS(50), 0), y[2];
    double before = -1;
    for (int k = 0; k < 4; k++) {
        note_status(s, tc_call(f, &x, 1, y, 2));
        note_tensor(s, y[0]), note_tensor(s, y[1]);
        CHECK(at(y[0], 0) != before); // the stream goes on
        before = at(y[0], 0);
        BEGIN(s, "draws");
        tc_tensor z = tc_dropout(x, 0.5);
        tc_tensor r = tc_randint(s->tc, -5, 5, TC_DIMS(30), TC_I64);
        END(s);
        note_tensor(s, z), note_tensor(s, r);
    }
    CHECK_EQ(tc_manual_seed(s->tc, 5), TC_OK); // and again from its start
    note_status(s, tc_call(f, &x, 1, y, 2));
    note_tensor(s, y[0]);
}

SCENE(every_dtype) {
    s->o.recompile_limit = 100;
    static const tc_dtype dtype[] = {TC_BOOL, TC_U8, TC_I32, TC_I64, TC_F32, TC_F64};
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            tc_tensor x = tc_cast(ramp(s, TC_DIMS(9), -4), dtype[a]), y, z;
            BEGIN(s, "dtypes");
            y = tc_cast(x, dtype[b]);
            z = tc_where(tc_gt_s(x, 0), x, tc_zeros_like(x));
            END(s);
            note_tensor(s, y), note_tensor(s, z);
        }
    }
}

SCENE(no_elements_no_inputs_no_dimensions) {
    for (int k = 0; k < 3; k++) {
        tc_tensor none = ramp(s, TC_DIMS(0, 4), 0), one = ramp(s, TC_SCALAR, 7), a, b, c, d;
        BEGIN(s, "corners");
        a = tc_add_s(none, 1);
        b = tc_sum(none, 0);
        c = tc_square(one);
        d = tc_arange(s->tc, 0, 5, 1, TC_F32);
        END(s);
        note_tensor(s, a), note_tensor(s, b), note_tensor(s, c), note_tensor(s, d);
        CHECK_EQ(at(b, 3), 0);
        CHECK_EQ(at(c, 0), 49);
        CHECK_EQ(at(d, 4), 4);
    }
}

SCENE(a_network) {
    tc_tensor image = ramp(s, TC_DIMS(1, 2, 8, 8), -60),
              taps = ramp(s, TC_DIMS(3, 2, 3, 3), -27);
    tc_tensor weight = ramp(s, TC_DIMS(5, 48), -100), target;
    int64_t label = 3;
    target = tc_from_data(s->tc, &label, TC_DIMS(1), TC_I64);
    for (int k = 0; k < 3; k++) {
        tc_tensor y, loss;
        BEGIN(s, "network");
        y = tc_conv2d(tc_mul_s(image, 0.01), taps, tc_null(), 1, 1, 1, 1);
        y = tc_max_pool2d(tc_gelu(y), 2, 2, 0);
        y = tc_linear(tc_reshape(y, TC_DIMS(1, 48)), tc_mul_s(weight, 0.001), tc_null());
        loss = tc_cross_entropy(y, target);
        END(s);
        note_tensor(s, y), note_tensor(s, loss);
        CHECK(at(loss, 0) >= 0);
    }
    COUNT(s, last_inputs, 4);
}

// ---- what goes wrong, what is forgotten ----

SCENE(an_index_out_of_range) {
    int64_t bad = 9;
    tc_tensor x = ramp(s, TC_DIMS(5), 0), y;
    for (int k = 0; k < 3; k++) {
        bad = k == 1 ? 9 : k;
        tc_tensor i = tc_from_data(s->tc, &bad, TC_DIMS(1), TC_I64);
        BEGIN(s, "index");
        y = tc_add_s(tc_take(x, i, 0), 1);
        tc_status status = tc_trace_end(s->tc);
        note_status(s, status);
        CHECK_EQ(status, k == 1 ? TC_E_INDEX : TC_OK);
        if (status)
            note(s, tc_error_text(s->tc), strlen(tc_error_text(s->tc)));
        else
            note_tensor(s, y);
        tc_error_clear(s->tc);
    }
}

SCENE(forgotten_results) {
    for (int k = 0; k < 3; k++) {
        tc_tensor x = ramp(s, TC_DIMS(30), k), y, z;
        BEGIN(s, "wanted");
        y = tc_add_s(x, 1);
        z = tc_mul_s(y, 2);
        END(s);
        note_tensor(s, z), note_tensor(s, y); // y was an output of no program at first
        CHECK_EQ(at(y, 29), k + 30);
    }
}

SCENE(reset) {
    double by = 3;
    tc_fn *f = function(s, affine, &by, sizeof by);
    tc_tensor x = ramp(s, TC_DIMS(4, 5), 0), y[2];
    for (int k = 0; k < 6; k++) {
        BEGIN(s, "reset");
        tc_tensor z = tc_neg(x);
        END(s);
        note_tensor(s, z);
        note_status(s, tc_call(f, &x, 1, y, 2));
        note_tensor(s, y[0]);
        COUNT(s, compiled, k < 3 ? 2 : 4);
        COUNT(s, forgotten, k < 3 ? 0 : 2);
        if (k == 2) CHECK_EQ(tc_reset(s->tc), TC_OK);
        COUNT(s, forgotten, k < 2 ? 0 : 2);
    }
}

SCENE(stances) {
    tc_tensor x = ramp(s, TC_DIMS(6), 0), y;
    for (int k = 0; k < 5; k++) {
        tc_set_stance(s->tc, (tc_stance)k);
        BEGIN(s, "stances");
        y = tc_square(x);
        END(s);
        note_tensor(s, y);
        CHECK_EQ(at(y, 5), 25);
    }
    COUNT(s, compiled, 1);
    COUNT(s, runs, 4); // not where everything is eager
}

// Made in a stance that does not compile: the backend gets the graph when one does.
SCENE(a_program_that_waits) {
    tc_tensor x = ramp(s, TC_DIMS(6), 0), y;
    for (int k = 0; k < 6; k++) {
        tc_set_stance(s->tc, k < 3 ? TC_STANCE_EAGER_ON_RECOMPILE : TC_STANCE_DEFAULT);
        BEGIN(s, "waits");
        y = tc_square(x);
        END(s);
        note_tensor(s, y);
        COUNT(s, compiled, k >= 3);
        COUNT(s, runs, k < 3 ? 0 : k - 2);
    }
}

SCENE(shared_contexts) {
    double by = 3;
    tc_tensor weight = ramp(s, TC_DIMS(4, 5), 1), y[2];
    tc_fn *f = function(s, affine, &by, sizeof by);
    note_status(s, tc_call(f, &weight, 1, y, 2));
    tc_ctx *child = tc_open_shared(s->tc);
    tc_fn *g = tc_fn_in(child, f);
    for (int k = 0; k < 3; k++) {
        note_status(s, tc_call(g, &weight, 1, y, 2));
        note_tensor(s, y[0]);
        CHECK_EQ(at(y[0], 3), 4 * by + 1);
    }
    COUNT(s, compiled, 2); // the child has a program of its own
    COUNT(s, runs, 4);
    tc_close(child);
    COUNT(s, forgotten, 1);
}
