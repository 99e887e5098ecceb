// Contexts shared among threads: what a child sees of its parent, functions called from many threads,
// endings in any order. Run it under SAN=thread too. Values come from plain C.
#include "tcompile.h"

#include "harness.h"

#include <math.h>
#include <pthread.h>

enum { N = 64, M = 48, THREADS = 16, CALLS = 2000 };

static tc_ctx *open_parent(const char *backend) {
    tc_config config = tc_config_default();
    config.backend = backend, config.threads = 1, config.no_disk_cache = 1;
    return tc_open(&config);
}

// f32 [n]: from + i
static tc_tensor ramp(tc_ctx *tc, int n, double from) {
    float x[N];
    for (int i = 0; i < n; i++) x[i] = (float)(from + i);
    return tc_from_data(tc, x, TC_DIMS(n), TC_F32);
}

static double element(tc_tensor t, int i) {
    float x[N];
    if (tc_read(t, x, (size_t)tc_numel(t) * sizeof *x)) return NAN;
    return (double)x[i];
}

// Weights in the parent, used by bodies through their handles.
typedef struct model {
    tc_tensor weight, bias;
    tc_fn *inner;
} model;

static void affine(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const model *m = (const model *)user;
    (void)tc;
    // Both operands of the first product are the parent's.
    out[0] = tc_add(tc_mul(tc_mul(m->weight, m->weight), in[0]), m->bias);
}

static void outer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const model *m = (const model *)user;
    tc_tensor y;
    (void)tc;
    tc_call(m->inner, in, 1, &y, 1);
    out[0] = tc_add_s(y, 1);
}

static double want(int i, double from) {
    return (2 + i) * (2 + i) * (from + i) + 10 + i + 1;
}

typedef struct job {
    tc_ctx *tc;
    tc_fn *f;
    int index, wrong;
    uint64_t skips;
} job;

static void *work(void *arg) {
    job *j = (job *)arg;
    tc_tensor x[3], y;
    for (int k = 0; k < 3; k++) x[k] = ramp(j->tc, M, j->index + k);
    for (int k = 0; k < CALLS; k++) {
        int i = k % M, n = k % 3;
        tc_scope_begin(j->tc);
        if (tc_call(j->f, &x[n], 1, &y, 1) != TC_OK ||
            element(y, i) != want(i, j->index + n))
            j->wrong++;
        tc_scope_end(j->tc);
    }
    j->wrong += tc_error(j->tc) != TC_OK;
    j->skips = tc_stats_get(j->tc).skips;
    tc_close(j->tc);
    return NULL;
}

static void many_threads(const char *backend) {
    pthread_t thread[THREADS];
    job jobs[THREADS];
    model m;
    tc_ctx *tc = open_parent(backend);
    m.weight = ramp(tc, M, 2), m.bias = ramp(tc, M, 10);
    m.inner = tc_compile(tc, affine, &m, sizeof m, NULL);
    tc_fn *f = tc_compile(tc, outer, &m, sizeof m, NULL);
    tc_tensor x = ramp(tc, M, 5), y;
    for (int k = 0; k < 3; k++) {
        REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
        CHECK_EQ(element(y, 7), want(7, 5));
    }
    for (int i = 0; i < THREADS; i++) {
        memset(&jobs[i], 0, sizeof jobs[i]);
        jobs[i].tc = tc_open_shared(tc), jobs[i].f = f, jobs[i].index = i;
        REQUIRE(jobs[i].tc);
    }
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, work, &jobs[i]));
    // The parent goes on meanwhile.
    for (int k = 0; k < 200; k++) {
        tc_scope_begin(tc);
        x = ramp(tc, M, k);
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(element(y, k % M), want(k % M, k));
        tc_scope_end(tc);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK_EQ(jobs[i].wrong, 0);
        CHECK_EQ(jobs[i].skips, CALLS - 2); // one entry: sizes are the same
    }
    tc_close(tc);
}

TEST(a_function_from_many_threads_interp) { many_threads("aot_eager"); }
TEST(a_function_from_many_threads_cpu) { many_threads("cpu"); }

TEST(children_share_compiled_kernels) {
    model m;
    tc_ctx *tc = open_parent("cpu");
    m.weight = ramp(tc, M, 2), m.bias = ramp(tc, M, 10), m.inner = NULL;
    tc_fn *f = tc_compile(tc, affine, &m, sizeof m, NULL);
    tc_tensor x = ramp(tc, M, 5), y;
    REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
    tc_ctx *child = tc_open_shared(tc);
    x = ramp(child, M, 6);
    REQUIRE(tc_call(f, &x, 1, &y, 1) == TC_OK);
    CHECK_EQ(element(y, 3), want(3, 6) - 1);
    CHECK_EQ(y.id >> 56, x.id >> 56);
    CHECK_EQ(tc_stats_get(child).memory_hits, 1);
    CHECK_EQ(tc_stats_get(child).compiles, 0);
    CHECK_EQ(tc_stats_get(child).calls, 1);
    CHECK_EQ(tc_stats_get(tc).calls, 1);
    tc_close(child);
    tc_close(tc);
}

TEST(regions_of_a_child) {
    tc_ctx *tc = open_parent("cpu");
    tc_tensor w = ramp(tc, M, 2), view = tc_slice(w, 0, 1, 11, 1), y, z;
    tc_ctx *child = tc_open_shared(tc);
    for (int k = 0; k < 3; k++) {
        tc_tensor x = ramp(child, 10, k);
        tc_trace_begin(child, "shared");
        y = tc_mul(view, tc_square(view)); // the parent's alone
        z = tc_add(view, x);
        CHECK_EQ(tc_trace_end(child), TC_OK);
        CHECK_EQ(element(y, 2), 5 * 25);
        CHECK_EQ(element(z, 2), 5 + k + 2);
    }
    // Outside regions one tensor of the child's is enough to tell where.
    tc_tensor x = ramp(child, 10, 1);
    z = tc_add(view, x);
    CHECK_EQ(z.id >> 56, x.id >> 56);
    CHECK_EQ(element(z, 0), 3 + 1);
    // On its own a handle of the parent's is the parent's.
    y = tc_square(w);
    CHECK_EQ(y.id >> 56, w.id >> 56);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_error(child), TC_OK);
    tc_close(child);
    tc_close(tc);
}

TEST(memory_outlives_its_tensor) {
    tc_ctx *tc = open_parent("cpu");
    tc_tensor w = ramp(tc, M, 2), x, y;
    tc_ctx *child = tc_open_shared(tc);
    tc_free(w);
    for (int k = 0; k < 4; k++) tc_full(tc, TC_DIMS(M), 99, TC_F32); // would take its place
    x = ramp(child, M, 1);
    y = tc_add(x, w);
    CHECK_EQ(element(y, 5), 7 + 6);
    tc_close(child);
    tc_tensor again = tc_full(tc, TC_DIMS(M), 3, TC_F32);
    tc_free(again); // gives back what the child held
    tc_close(tc);
}

TEST(the_parent_is_closed_first) {
    tc_ctx *tc = open_parent("cpu"), *child[3];
    tc_tensor w = ramp(tc, M, 2);
    for (int k = 0; k < 3; k++) child[k] = tc_open_shared(tc);
    tc_close(child[1]);
    tc_close(tc);
    for (int k = 0; k < 3; k += 2) {
        tc_tensor x = ramp(child[k], M, k), y = tc_add(x, w);
        CHECK_EQ(element(y, 5), 7 + k + 5);
        tc_close(child[k]);
    }
}

TEST(constants_and_kept_results_are_seen) {
    float taps[2];
    taps[0] = 2, taps[1] = 5;
    tc_ctx *tc = open_parent("cpu");
    tc_tensor two = tc_const(tc, taps, TC_DIMS(2), TC_F32), kept[3], y;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(tc, "keeps");
        kept[k] = tc_keep(tc_mul_s(two, k + 3));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    tc_ctx *child = tc_open_shared(tc);
    for (int k = 0; k < 3; k++) {
        tc_trace_begin(child, "uses");
        y = tc_add(tc_add(kept[k], two), tc_full(child, TC_DIMS(2), 1, TC_F32));
        CHECK_EQ(tc_trace_end(child), TC_OK);
        CHECK_EQ(element(y, 1), 5 * (k + 3) + 5 + 1);
    }
    tc_close(child);
    tc_close(tc);
}

// ---- refusals ----

TEST(writing_the_parents_tensors_is_refused) {
    tc_ctx *tc = open_parent("cpu");
    tc_tensor w = ramp(tc, M, 2);
    tc_ctx *child = tc_open_shared(tc);
    tc_tensor x = ramp(child, M, 1);
    tc_trace_begin(child, "writes");
    tc_copy_(w, x);
    CHECK_EQ(tc_trace_end(child), TC_E_FOREIGN);
    CHECK(strstr(tc_error_text(child), "tc_clone"));
    tc_error_clear(child);
    CHECK_EQ(element(w, 3), 5);
    tc_close(child);
    tc_close(tc);
}

// ---- eager ops on the parent's tensors ----

enum { BATCH = 4, IN = 3, OUT = 2 };

// x[i][k] = i + k, w[j][k] = j + 2 * k, b[j] = j: x w^T, with b or without
static int is_product(tc_tensor t, int with_b) {
    float y[BATCH * OUT];
    if (tc_read(t, y, sizeof y)) return 0;
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < OUT; j++) {
            double sum = with_b ? j : 0;
            for (int k = 0; k < IN; k++) sum += (i + k) * (j + 2 * k);
            if ((double)y[i * OUT + j] != sum) return 0;
        }
    return 1;
}

typedef struct layer {
    tc_ctx *parent, *child;
    tc_tensor w, b;
} layer;

static layer open_layer(void) {
    float w[OUT * IN], b[OUT];
    layer l;
    for (int i = 0; i < OUT * IN; i++) w[i] = (float)(i / IN + 2 * (i % IN));
    for (int j = 0; j < OUT; j++) b[j] = (float)j;
    l.parent = open_parent("cpu");
    l.w = tc_from_data(l.parent, w, TC_DIMS(OUT, IN), TC_F32);
    l.b = tc_from_data(l.parent, b, TC_DIMS(OUT), TC_F32);
    l.child = tc_open_shared(l.parent);
    return l;
}

static tc_tensor layer_input(tc_ctx *tc) {
    float x[BATCH * IN];
    for (int i = 0; i < BATCH * IN; i++) x[i] = (float)(i / IN + i % IN);
    return tc_from_data(tc, x, TC_DIMS(BATCH, IN), TC_F32);
}

static void check_layer(const layer *l) {
    tc_tensor x = layer_input(l->child);
    CHECK(is_product(tc_linear(x, l->w, l->b), 1));
    CHECK(is_product(tc_linear(x, l->w, tc_null()), 0));
    CHECK(is_product(tc_matmul(x, tc_t(l->w)), 0));
    tc_tensor column = tc_transpose(tc_matmul(l->w, tc_t(x)), 0, 1);
    CHECK(is_product(tc_contiguous(column), 0));
    int64_t row[2] = {1, 0};
    tc_tensor y = tc_embedding(l->w, tc_from_data(l->child, row, TC_DIMS(2), TC_I64));
    CHECK(tc_get(y, TC_DIMS(0, 2)) == 5 && tc_get(y, TC_DIMS(1, 2)) == 4);
    CHECK_STR(tc_error_text(l->child), "");
}

// A thread that works with both: composite ops, and views that it makes on the way.
TEST(eager_products_with_the_parents_weights) {
    layer l = open_layer();
    check_layer(&l);
    CHECK_STR(tc_error_text(l.parent), "");
    tc_close(l.parent); // what the child holds is there
    check_layer(&l);
    tc_close(l.child);
}

static void plus_one(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[0], 1);
}

// A thread with two children: one of their tensors tells which is meant, wherever it stands.
static void check_child(tc_ctx *child, tc_fn *f, tc_tensor w) {
    tc_tensor x = ramp(child, M, 1), y = tc_mul(w, x), z;
    CHECK_EQ(y.id >> 56, x.id >> 56);
    CHECK_EQ(element(y, 3), 5 * 4);
    CHECK_EQ(element(tc_mse_loss(w, x), 0), 1);
    CHECK_EQ(tc_call(f, &x, 1, &z, 1), TC_OK);
    CHECK_EQ(z.id >> 56, x.id >> 56);
    CHECK_EQ(element(z, 3), 5);
    CHECK_STR(tc_error_text(child), "");
}

TEST(a_thread_of_two_children) {
    tc_ctx *tc = open_parent("aot_eager"), *child[2];
    tc_tensor w = ramp(tc, M, 2);
    tc_fn *f = tc_compile(tc, plus_one, NULL, 0, NULL);
    for (int i = 0; i < 2; i++) child[i] = tc_open_shared(tc);
    for (int k = 0; k < 4; k++) {
        if (k == 2) tc_close(tc); // from now on nothing leads to it
        check_child(child[k % 2], f, w);
    }
    for (int i = 0; i < 2; i++) tc_close(child[i]);
}

static void *use_a_child(void *arg) {
    layer *l = (layer *)arg;
    tc_ctx *tc = l->child;
    tc_tensor x = layer_input(tc), y = tc_mul_s(l->b, 2), z;
    CHECK_EQ(y.id >> 56, x.id >> 56);
    z = tc_t(l->w);
    CHECK_EQ(z.id >> 56, x.id >> 56);
    CHECK(tc_get(y, TC_DIMS(1)) == 2 && tc_get(z, TC_DIMS(2, 1)) == 5);
    check_layer(l);
    CHECK(tc_is_null(tc_mul_s_(l->w, 2)));
    CHECK_EQ(tc_error(tc), TC_E_FOREIGN);
    CHECK(strstr(tc_error_text(tc), "tc_clone"));
    tc_error_clear(tc);
    tc_free(l->w);
    CHECK_EQ(tc_error(tc), TC_E_FOREIGN);
    CHECK(strstr(tc_error_text(tc), "free it there"));
    tc_error_clear(tc);
    return NULL;
}

// A child's thread: nothing of what it does is the parent's.
TEST(a_childs_thread_works_in_the_child) {
    layer l = open_layer();
    tc_stats before = tc_stats_get(l.parent);
    pthread_t thread;
    REQUIRE(!pthread_create(&thread, NULL, use_a_child, &l));
    pthread_join(thread, NULL);
    tc_stats after = tc_stats_get(l.parent);
    CHECK_EQ(after.eager_ops, before.eager_ops);
    CHECK_EQ(after.bytes, before.bytes);
    CHECK_STR(tc_error_text(l.parent), "");
    CHECK(tc_get(l.w, TC_DIMS(1, 2)) == 5);
    tc_tensor y = tc_mul_s(l.b, 2); // this thread has worked with the parent alone
    CHECK_EQ(y.id >> 56, l.b.id >> 56);
    tc_close(l.child);
    tc_close(l.parent);
}

TEST(what_came_later_is_not_seen) {
    tc_ctx *tc = open_parent("cpu");
    tc_ctx *child = tc_open_shared(tc);
    tc_tensor w = ramp(tc, M, 2), x = ramp(child, M, 1);
    CHECK_EQ(tc_add(x, w).id, 0);
    CHECK_EQ(tc_error(child), TC_E_FOREIGN);
    CHECK(strstr(tc_error_text(child), "tc_open_shared was called"));
    tc_close(child);
    tc_close(tc);
}

static tc_status runs_nothing(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state, (void)run;
    return TC_OK;
}

// Counts are looked at before the tensors that say whose call it is; the status is the error's.
TEST(bad_calls_with_children) {
    tc_ctx *parent = open_parent("aot_eager"), *child = tc_open_shared(parent);
    tc_tensor x = ramp(parent, 8, 0), mine = ramp(child, 8, 0), y;
    tc_backend late;
    tc_options o = tc_options_default();
    tc_fn *f = tc_compile(parent, plus_one, NULL, 0, NULL);
    CHECK_EQ(tc_call(f, &x, -1, &y, 1), TC_E_ARG);
    CHECK_EQ(tc_call(f, NULL, 1, &y, 1), TC_E_NULL);
    CHECK_EQ(tc_call(f, &x, 1, &y, -1), TC_E_ARG);
    memset(&late, 0, sizeof late); // a backend that the child does not have
    late.name = o.backend = "late", late.run = runs_nothing;
    CHECK_EQ(tc_register_backend(parent, &late), TC_OK);
    f = tc_compile(parent, plus_one, NULL, 0, &o);
    CHECK_EQ(tc_call(f, &mine, 1, &y, 1), TC_E_ARG);
    CHECK_EQ(tc_error(child), TC_E_ARG);
    tc_close(child);
    tc_close(parent);
}

static tc_tensor weight;

static void region_inside(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_trace_begin(tc, "inside");
    tc_tensor y = tc_square(in[0]);
    tc_trace_end(tc);
    out[0] = tc_add(y, tc_add(weight, weight)); // the parent's, twice
}

// Regions that are skipped, in an eager body and where tc_disable_begin suspends one, do not end that
// the child is the one that runs.
TEST(skipped_regions_of_a_child) {
    tc_ctx *parent = open_parent("aot_eager");
    weight = ramp(parent, N, 0);
    tc_fn *f = tc_compile(parent, region_inside, NULL, 0, NULL);
    tc_ctx *child = tc_open_shared(parent);
    tc_tensor x = ramp(child, N, 0), y, z;
    tc_trace_begin(child, "suspended");
    y = tc_square(x);
    tc_disable_begin(child);
    tc_trace_begin(child, "skipped");
    z = tc_add_s(x, 1);
    tc_trace_end(child);
    tc_disable_end(child);
    y = tc_add(tc_add(y, tc_add(weight, weight)), z);
    CHECK_EQ(tc_trace_end(child), TC_OK);
    CHECK_EQ(element(y, 2), 4 + 4 + 3);
    for (int forced = 0; forced < 2; forced++) {
        tc_set_stance(child, forced ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
        if (!forced) tc_disable_begin(child);
        CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        CHECK_EQ(element(y, 2), 4 + 4);
        if (!forced) tc_disable_end(child);
    }
    y = tc_add(weight, weight); // outside it is the parent again
    CHECK_EQ(y.id >> 56, weight.id >> 56);
    CHECK_EQ(tc_error(parent), TC_OK);
    tc_close(child);
    tc_close(parent);
}

// The name is copied: a child asks for it when the caller's is long gone.
TEST(names_of_functions_are_copied) {
    char name[] = "first";
    tc_ctx *parent = open_parent("aot_eager");
    tc_fn *f = tc_compile_at(parent, region_inside, NULL, 0, NULL, name, "user.c", 1);
    memset(name, '?', sizeof name - 1);
    tc_ctx *child = tc_open_shared(parent);
    CHECK(tc_fn_in(child, f) != NULL);
    CHECK_EQ(tc_explain_counts(child, "?????").programs, 0);
    CHECK(strstr(tc_explain(child), "first"));
    tc_close(child);
    tc_close(parent);
}

TEST(children_have_no_children) {
    tc_ctx *tc = open_parent("cpu");
    tc_ctx *child = tc_open_shared(tc);
    CHECK(!tc_open_shared(child));
    CHECK_EQ(tc_error(child), TC_E_STATE);
    CHECK(!tc_open_shared(NULL));
    tc_close(child);
    tc_close(tc);
}

TEST(functions_of_strangers_are_refused) {
    model m;
    tc_ctx *tc = open_parent("cpu"), *other = open_parent("cpu");
    memset(&m, 0, sizeof m);
    tc_fn *f = tc_compile(tc, affine, &m, sizeof m, NULL);
    tc_ctx *child = tc_open_shared(tc);
    CHECK_EQ(tc_fn_in(tc, f) == f, 1);
    tc_fn *g = tc_fn_in(child, f);
    CHECK(g && g != f);
    CHECK_EQ(tc_fn_in(child, f) == g, 1);
    CHECK(!tc_fn_in(other, f));
    CHECK_EQ(tc_error(other), TC_E_FOREIGN);
    CHECK(!tc_fn_in(NULL, f));
    CHECK(!tc_fn_in(child, NULL));
    tc_close(child);
    tc_close(other);
    tc_close(tc);
}

// Compiled in the background for several contexts at once.
static void *later(void *arg) {
    job *j = (job *)arg;
    tc_set_stance(j->tc, TC_STANCE_EAGER_THEN_COMPILE);
    for (int k = 0; k < 40; k++) {
        double by = k % 7 + 1;
        tc_scope_begin(j->tc);
        tc_tensor x = ramp(j->tc, M, j->index), y;
        tc_trace_begin(j->tc, "later");
        y = tc_add_s(tc_mul_s(tc_abs(x), by), j->index % 3);
        if (tc_trace_end(j->tc) || element(y, 4) != (j->index + 4) * by + j->index % 3)
            j->wrong++;
        tc_scope_end(j->tc);
    }
    tc_wait_compiled(j->tc);
    tc_close(j->tc);
    return NULL;
}

// ---- one context, two threads ----

static struct {
    tc_ctx *tc;
    tc_fn *f;
    tc_tensor x;
    int armed, refused;
} meddled;

// What a second thread calls while the first is in a call.
static void *meddle(void *arg) {
    tc_ctx *tc = meddled.tc;
    tc_tensor x = meddled.x, y = x;
    float got[N];
    (void)arg;
    meddled.refused += tc_is_null(tc_neg(x));                          // an op,
    meddled.refused += tc_is_null(tc_softmax(x, 0));                   //   of several,
    meddled.refused += tc_is_null(tc_add_(x, x));                      //   in place,
    meddled.refused += tc_is_null(tc_full(tc, TC_DIMS(2), 1, TC_F32)); // of nothing
    meddled.refused += tc_call(meddled.f, &x, 1, &y, 1) == TC_E_THREAD && tc_is_null(y);
    meddled.refused += tc_trace_begin(tc, "meddles") == TC_E_THREAD;
    meddled.refused += tc_read(x, got, M * sizeof *got) == TC_E_THREAD;
    tc_free(x);
    return NULL;
}

// The first allocation of an armed context is the moment.
static void *meddling_realloc(void *user, void *p, size_t old_size, size_t new_size) {
    (void)user;
    if (meddled.armed && new_size) {
        pthread_t thread;
        meddled.armed = 0;
        CHECK(!pthread_create(&thread, NULL, meddle, NULL));
        CHECK(!pthread_join(thread, NULL));
    }
    return checked_realloc(p, old_size, new_size);
}

static void negate(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_neg(in[0]);
}

// Whatever a thread does in a context: another one is told so, and changes nothing.
TEST(a_second_thread_is_told) {
    enum { OP, COMPOSITE, CALL, CALL_KNOWN, REGION, WAYS };
    for (int way = 0; way < WAYS; way++) {
        tc_config config = tc_config_default();
        config.backend = "aot_eager", config.threads = 1;
        config.allocator.realloc = meddling_realloc;
        tc_ctx *tc = meddled.tc = tc_open(&config);
        tc_tensor x = meddled.x = ramp(tc, M, 1), y = x;
        tc_fn *f = meddled.f = tc_compile(tc, negate, NULL, 0, NULL);
        for (int k = 0; way == CALL_KNOWN && k < 4; k++) // each has memory of its own
            CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        tc_free(ramp(tc, 1, 0)); // so there is a handle for one more result
        meddled.refused = 0, meddled.armed = 1;
        if (way == OP) y = tc_neg(x);
        if (way == COMPOSITE) y = tc_neg(tc_log(tc_softmax(x, 0)));
        if (way == CALL || way == CALL_KNOWN) CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
        if (way == REGION) {
            CHECK_EQ(tc_trace_begin(tc, "region"), TC_OK);
            y = tc_neg(x);
            CHECK_EQ(tc_trace_end(tc), TC_OK);
        }
        CHECK(!meddled.armed);
        CHECK_EQ(meddled.refused, 7);
        CHECK_EQ(tc_error(tc), TC_E_THREAD);
        if (way != COMPOSITE) CHECK_EQ(element(y, 3), -4);
        CHECK_EQ(element(x, 3), 4); // neither freed nor written
        tc_error_clear(tc);
        (void)meddle(NULL); // nobody else is there now
        CHECK_EQ(meddled.refused, 7);
        tc_close(tc);
    }
}

TEST(background_work_for_several_contexts) {
    enum { FEW = 4 };
    pthread_t thread[FEW];
    job jobs[FEW];
    tc_ctx *tc = open_parent("cpu");
    for (int i = 0; i < FEW; i++) {
        memset(&jobs[i], 0, sizeof jobs[i]);
        jobs[i].tc = tc_open_shared(tc), jobs[i].index = i;
        REQUIRE(jobs[i].tc);
    }
    for (int i = 0; i < FEW; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, later, &jobs[i]));
    for (int i = 0; i < FEW; i++) {
        pthread_join(thread[i], NULL);
        CHECK_EQ(jobs[i].wrong, 0);
    }
    tc_close(tc);
}

// ---- products: a thread keeps the panels that it packed for the pieces that it does of one launch ----

enum { ROWS = 150, COLUMNS = 700, DEPTH = 40, TIMES = 12 };

static void product(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(in[0], in[1]);
}

static void check_product(tc_tensor y, int time) {
    static float x[ROWS * COLUMNS];
    int wrong = 0;
    CHECK_EQ(tc_read(y, x, sizeof x), TC_OK);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int sum = 0; // of small whole numbers, exact
            for (int k = 0; k < DEPTH; k++)
                sum += ((i + 3 * k) % 5 - 2) * ((k + 2 * j + time) % 7 - 3);
            wrong += x[i * COLUMNS + j] != (float)sum;
        }
    CHECK(!wrong || FAIL("%d elements are wrong, time %d", wrong, time));
}

static void weights_that_change(int threads, const char *backend) {
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS];
    tc_config config = tc_config_default();
    config.threads = threads, config.backend = backend, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    tc_fn *f = tc_compile(tc, product, NULL, 0, NULL);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < DEPTH; k++) a[i * DEPTH + k] = (float)((i + 3 * k) % 5 - 2);
    tc_tensor in[2] = {tc_wrap(tc, a, TC_DIMS(ROWS, DEPTH), TC_F32),
                       tc_wrap(tc, b, TC_DIMS(DEPTH, COLUMNS), TC_F32)};
    for (int time = 0; time < TIMES; time++) {
        tc_tensor y = tc_null();
        for (int k = 0; k < DEPTH; k++)
            for (int j = 0; j < COLUMNS; j++)
                b[k * COLUMNS + j] = (float)((k + 2 * j + time) % 7 - 3);
        if (time % 3 == 2) usleep(3000); // workers sleep
        if (time % 2) {
            CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_OK);
        } else {
            tc_trace_begin(tc, "product");
            y = tc_matmul(in[0], in[1]);
            CHECK_EQ(tc_trace_end(tc), TC_OK);
        }
        check_product(y, time);
    }
    tc_close(tc);
}

TEST(weights_that_change_one_thread) { weights_that_change(1, "cpu"); }
TEST(weights_that_change_three_threads) { weights_that_change(3, "cpu"); }
TEST(weights_that_change_interpreted) { weights_that_change(3, "aot_eager"); }
