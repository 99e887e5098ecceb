// Loops and branches in the graph, their values: each case outside of regions, one call after the other, is what all
// others have to give bit for bit: interpreted, compiled, unfused, without passes, with results kept, at the first visit,
// at the next one, and with other contents.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { ROWS = 7, BATCH = 4, WIDE = 5, RESULTS = 8, VISITS = 4 };

// ---- what cases work on ----

typedef struct given {
    tc_tensor x, y;        // f32 [ROWS, BATCH, WIDE]
    tc_tensor h, c;        // f32 [BATCH, WIDE]
    tc_tensor w, u, gate;  // f32 [WIDE, WIDE] twice, [2 * WIDE, 4 * WIDE]
    tc_tensor b, bias;     // f32 [WIDE], [4 * WIDE]
    tc_tensor s, z;        // f32 [], [ROWS]
    tc_tensor index;       // i64 [ROWS, BATCH], 0 to BATCH - 1
    tc_tensor image, taps; // f32 [ROWS, 1, 2, 6, 6], [2, 2, 3, 3]
} given;

static tc_tensor numbers(tc_ctx *tc, tc_dims d, unsigned seed) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    float *p = (float *)malloc(sizeof *p * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++) p[i] = (float)test_number((unsigned)i, seed);
    tc_tensor t = tc_from_data(tc, p, d, TC_F32);
    free(p);
    return t;
}

static given give(tc_ctx *tc, unsigned seed) {
    given g;
    int64_t index[ROWS * BATCH];
    for (unsigned i = 0; i < ROWS * BATCH; i++) index[i] = test_word(i, seed) % BATCH;
    g.x = numbers(tc, TC_DIMS(ROWS, BATCH, WIDE), seed + 1);
    g.y = numbers(tc, TC_DIMS(ROWS, BATCH, WIDE), seed + 2);
    g.h = numbers(tc, TC_DIMS(BATCH, WIDE), seed + 3);
    g.c = numbers(tc, TC_DIMS(BATCH, WIDE), seed + 4);
    g.w = numbers(tc, TC_DIMS(WIDE, WIDE), seed + 5);
    g.u = numbers(tc, TC_DIMS(WIDE, WIDE), seed + 6);
    g.gate = numbers(tc, TC_DIMS(2 * WIDE, 4 * WIDE), seed + 7);
    g.b = numbers(tc, TC_DIMS(WIDE), seed + 8);
    g.bias = numbers(tc, TC_DIMS(4 * WIDE), seed + 9);
    g.s = tc_scalar(tc, test_number(0, seed + 10), TC_F32);
    g.z = numbers(tc, TC_DIMS(ROWS), seed + 11);
    g.index = tc_from_data(tc, index, TC_DIMS(ROWS, BATCH), TC_I64);
    g.image = numbers(tc, TC_DIMS(ROWS, 1, 2, 6, 6), seed + 12);
    g.taps = numbers(tc, TC_DIMS(2, 2, 3, 3), seed + 13);
    return g;
}

// ---- all ways to run a case ----

typedef int (*case_of)(tc_ctx *tc, given *g, tc_tensor *out); // gives how many results

typedef struct bytes {
    unsigned char *at[RESULTS];
    size_t size[RESULTS];
    int n;
} bytes;

static bytes read_all(tc_ctx *tc, const tc_tensor *out, int n) {
    bytes b;
    memset(&b, 0, sizeof b);
    b.n = n;
    for (int i = 0; i < n; i++) {
        size_t size = tc_dtype_bytes(tc_dtype_of(out[i])) * (size_t)tc_numel(out[i]);
        b.at[i] = (unsigned char *)calloc(size + 1, 1), b.size[i] = size;
        if (tc_read(out[i], b.at[i], size)) FAIL("result %d: %s", i, tc_error_text(tc));
    }
    return b;
}

static void bytes_free(bytes *b) {
    for (int i = 0; i < b->n; i++) free(b->at[i]);
}

static void compare(const bytes *a, const bytes *b, const char *way, int visit) {
    if (a->n != b->n) FAIL("%s, visit %d: %d results, not %d", way, visit, b->n, a->n);
    for (int i = 0; i < a->n && i < b->n; i++)
        if (a->size[i] != b->size[i] || memcmp(a->at[i], b->at[i], a->size[i]))
            FAIL("%s, visit %d: result %d is %s", way, visit, i,
                 a->size[i] == b->size[i] ? "another" : "of another size");
}

typedef struct way {
    const char *name, *backend, *passes_off;
    int no_fusion, threads, kept;
} way;

static const way ways[] = {
    {"interpreted", "aot_eager", NULL, 0, 1, 0}, {"kept", "aot_eager", NULL, 0, 1, 1},
    {"compiled", "cpu", NULL, 0, 2, 0},          {"unfused", "cpu", NULL, 1, 2, 0},
    {"without passes", "cpu", "all", 0, 2, 0},
};

static tc_ctx *open_way(const way *w) {
    tc_config config = tc_config_default();
    config.no_disk_cache = 1, config.threads = w->threads;
    config.backend = w->backend, config.passes_off = w->passes_off;
    config.no_fusion = w->no_fusion;
    // Another way of the same kernels: interpreted, where not all is wanted.
    if (!test_all() && (w->no_fusion || w->passes_off)) config.backend = "aot_eager";
    return tc_open(&config);
}

static bytes run_outside(case_of f, int visit) {
    tc_tensor out[RESULTS];
    tc_ctx *tc = open_way(&ways[0]);
    given g = give(tc, 20u * (unsigned)(visit / 2));
    int n = f(tc, &g, out);
    bytes b = read_all(tc, out, n);
    if (tc_error(tc)) FAIL("outside: %s", tc_error_text(tc));
    tc_close(tc);
    return b;
}

static void run_inside(tc_ctx *tc, const way *w, case_of f, const bytes *want, int visit) {
    tc_tensor out[RESULTS];
    tc_options o;
    memset(&o, 0, sizeof o);
    o.round_each_op = 1;
    tc_scope_begin(tc);
    given g = give(tc, 20u * (unsigned)(visit / 2));
    tc_trace_begin_at(tc, "case", &o, "test.c", 1);
    int n = f(tc, &g, out);
    for (int i = 0; i < n && w->kept; i++) out[i] = tc_keep(out[i]);
    if (tc_trace_end(tc)) FAIL("%s, visit %d: %s", w->name, visit, tc_error_text(tc));
    bytes b = read_all(tc, out, n);
    compare(want, &b, w->name, visit);
    bytes_free(&b);
    tc_error_clear(tc);
    tc_scope_end(tc);
}

static void run_case(case_of f) {
    bytes want[VISITS];
    for (int v = 0; v < VISITS; v++) want[v] = run_outside(f, v);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        tc_ctx *tc = open_way(&ways[i]);
        for (int v = 0; v < VISITS; v++) run_inside(tc, &ways[i], f, &want[v], v);
        tc_close(tc);
    }
    for (int v = 0; v < VISITS; v++) bytes_free(&want[v]);
}

#define CASE(name)                                                                         \
    static int case_##name(tc_ctx *tc, given *g, tc_tensor *out);                          \
    TEST(name) { run_case(case_##name); }                                                  \
    static int case_##name(tc_ctx *tc, given *g, tc_tensor *out)

#define BODY(name)                                                                         \
    static void name(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user)

// The tensors that a body uses beside its own.
#define GIVEN  ((given *)user)
#define UNUSED ((void)tc, (void)user)

// A loop with one carry over x, whose last carry and rows are results.
static int scan_one(tc_body body, given *g, tc_tensor init, tc_tensor x, tc_tensor *out) {
    tc_scan(body, g, &init, 1, &x, 1, &out[0], &out[1], 1);
    return 2;
}

// ---- bodies ----

BODY(running_sum) {
    UNUSED;
    out[0] = out[1] = tc_add(in[0], in[1]);
}

BODY(rnn) {
    UNUSED;
    out[0] = out[1] = tc_tanh(tc_add(tc_add(tc_matmul(in[0], GIVEN->w), in[1]), GIVEN->b));
}

BODY(lstm) { // in: h, c, x
    UNUSED;
    tc_tensor both[2] = {in[2], in[0]}, gate[4];
    tc_tensor all = tc_add(tc_matmul(tc_cat(both, 2, 1), GIVEN->gate), GIVEN->bias);
    tc_chunk(all, 4, 1, gate, 4);
    tc_tensor keep = tc_mul(tc_sigmoid(gate[1]), in[1]);
    out[1] = tc_add(keep, tc_mul(tc_sigmoid(gate[0]), tc_tanh(gate[2])));
    out[0] = out[2] = tc_mul(tc_sigmoid(gate[3]), tc_tanh(out[1]));
}

BODY(norms) {
    UNUSED;
    tc_tensor p = tc_softmax(tc_add(in[0], in[1]), -1);
    tc_tensor n = tc_layer_norm(tc_add(p, in[1]), GIVEN->b, tc_null(), 1e-5);
    out[0] = tc_add(tc_mul_s(n, 0.5), tc_sum_dims(p, TC_DIMS(0), 1));
    out[1] = tc_logsumexp(out[0], 1);
}

BODY(convolution) {
    UNUSED;
    out[0] = tc_tanh(tc_conv2d(tc_add(in[0], in[1]), GIVEN->taps, tc_null(), 1, 1, 1, 1));
    out[1] = tc_amax(tc_max_pool2d(out[0], 2, 2, 0), -1);
}

BODY(gathers) { // in: h, index
    UNUSED;
    out[0] = tc_add(tc_mul_s(in[0], 0.5), tc_index_select(GIVEN->c, 0, in[1]));
    out[1] = tc_take(out[0], in[1], 0);
}

BODY(opaque) {
    UNUSED;
    tc_tensor sorted, index;
    tc_sort(in[1], 1, 0, &sorted, &index);
    out[0] = tc_cumsum(tc_add(tc_mul_s(in[0], 0.5), sorted), 0);
    out[1] = index;
}

BODY(all_kinds) { // in: i64, bool, f32 rows
    UNUSED;
    tc_tensor positive = tc_gt_s(in[2], 0);
    out[0] = tc_add(tc_mul_s(in[0], 3), tc_cast(positive, TC_I64));
    out[1] = tc_logical_xor(in[1], positive);
    out[2] = tc_where(out[1], in[2], tc_neg(in[2]));
}

BODY(fibonacci) {
    UNUSED;
    out[0] = in[1], out[1] = tc_add(in[0], in[1]), out[2] = tc_add(in[0], in[2]);
}

BODY(unchanged) { // in: h, c, x; ys: the same twice, and the outside
    UNUSED;
    out[0] = in[0], out[1] = tc_add(in[1], tc_mul(in[0], in[2]));
    out[2] = out[3] = out[1], out[4] = GIVEN->b;
}

BODY(from_outside) {
    UNUSED;
    out[0] = GIVEN->c, out[1] = in[0], out[2] = in[1];
}

BODY(three_xs) { // in: h, x, y, z
    UNUSED;
    out[0] = tc_add(tc_mul(in[0], in[3]), tc_mul(in[1], in[2]));
    out[1] = tc_mean_all(out[0]), out[2] = in[3];
}

BODY(in_place) {
    UNUSED;
    tc_add_(in[0], in[1]);
    tc_tensor t = tc_mul_s(in[0], 2);
    tc_sub_(tc_slice(t, 1, 0, 2, 1), tc_slice(in[1], 1, 0, 2, 1));
    tc_fill_(tc_select(t, 0, 1), 0.25);
    out[0] = in[0], out[1] = t;
}

BODY(in_place_of_rows) {
    UNUSED;
    tc_mul_s_(in[1], 3);
    out[0] = tc_add(in[0], in[1]), out[1] = in[1];
}

BODY(number) {
    UNUSED;
    out[0] = tc_add(tc_mul_s(in[0], 0.75), in[1]), out[1] = tc_mul(out[0], GIVEN->s);
}

BODY(no_carry) {
    UNUSED;
    out[0] = tc_matmul(in[0], GIVEN->w);
}

BODY(ungraded) {
    tc_no_grad_begin(tc);
    out[0] = tc_add(in[0], in[1]);
    tc_no_grad_end(tc);
    out[1] = tc_mul(out[0], GIVEN->b);
}

// ---- cases: what bodies do ----

CASE(sums) {
    (void)tc;
    return scan_one(running_sum, g, g->h, g->x, out);
}

CASE(cells) {
    (void)tc;
    return scan_one(rnn, g, g->h, g->x, out);
}

CASE(long_memory) {
    tc_tensor init[2];
    (void)tc;
    init[0] = g->h, init[1] = g->c;
    tc_scan(lstm, g, init, 2, &g->x, 1, out, out + 2, 1);
    return 3;
}

CASE(softmax_and_norm) {
    (void)tc;
    return scan_one(norms, g, g->h, g->x, out);
}

CASE(convolutions) {
    (void)tc;
    return scan_one(convolution, g, tc_select(g->image, 0, 0), g->image, out);
}

CASE(gathered) {
    (void)tc;
    return scan_one(gathers, g, g->h, g->index, out);
}

CASE(sorted) {
    (void)tc;
    return scan_one(opaque, g, g->h, g->x, out);
}

CASE(integers_and_bools) {
    tc_tensor init[2];
    init[0] = tc_arange(tc, 0, BATCH * WIDE, 1, TC_I64);
    init[0] = tc_reshape(init[0], TC_DIMS(BATCH, WIDE));
    init[1] = tc_lt(g->h, g->c);
    tc_scan(all_kinds, NULL, init, 2, &g->x, 1, out, out + 2, 1);
    return 3;
}

CASE(swapped_carries) {
    tc_tensor init[2], n = tc_arange(tc, 0, 40, 1, TC_I64);
    (void)g;
    init[0] = tc_scalar(tc, 0, TC_I64), init[1] = tc_scalar(tc, 1, TC_I64);
    tc_scan(fibonacci, NULL, init, 2, &n, 1, out, out + 2, 1);
    return 3;
}

CASE(unchanged_and_twice) {
    tc_tensor init[2];
    (void)tc;
    init[0] = g->h, init[1] = g->c;
    tc_scan(unchanged, g, init, 2, &g->x, 1, out, out + 2, 3);
    return 5;
}

CASE(carries_from_outside) {
    (void)tc;
    tc_scan(from_outside, g, &g->h, 1, &g->x, 1, out, out + 1, 2);
    return 3;
}

CASE(several_xs) {
    tc_tensor xs[3];
    (void)tc;
    xs[0] = g->x, xs[1] = g->y, xs[2] = g->z;
    tc_scan(three_xs, g, &g->h, 1, xs, 3, out, out + 1, 2);
    return 3;
}

CASE(writes_in_place) {
    (void)tc;
    scan_one(in_place, g, g->h, g->x, out);
    out[2] = tc_mul_s(g->h, 1); // as it was
    return 3;
}

CASE(writes_in_rows) {
    (void)tc;
    scan_one(in_place_of_rows, g, g->h, g->x, out);
    out[2] = tc_mul_s(g->x, 1);
    return 3;
}

CASE(numbers_as_carries) {
    (void)tc;
    return scan_one(number, g, g->s, g->z, out);
}

CASE(without_carries) {
    (void)tc;
    tc_scan(no_carry, g, NULL, 0, &g->x, 1, NULL, out, 1);
    return 1;
}

CASE(no_grad_inside_and_around) {
    scan_one(ungraded, g, g->h, g->x, out);
    tc_no_grad_begin(tc);
    scan_one(rnn, g, g->h, g->x, out + 2);
    tc_no_grad_end(tc);
    return 4;
}

// ---- cases: dtypes ----

static int in_dtype(tc_dtype dtype, given *g, tc_tensor *out) {
    given to = *g;
    to.w = tc_cast(g->w, dtype), to.b = tc_cast(g->b, dtype);
    scan_one(rnn, &to, tc_cast(g->h, dtype), tc_cast(g->x, dtype), out);
    scan_one(running_sum, &to, tc_cast(g->h, dtype), tc_cast(g->x, dtype), out + 2);
    return 4;
}

CASE(carries_of_f16) { return (void)tc, in_dtype(TC_F16, g, out); }
CASE(carries_of_bf16) { return (void)tc, in_dtype(TC_BF16, g, out); }
CASE(carries_of_f64) { return (void)tc, in_dtype(TC_F64, g, out); }

// ---- cases: how many rows ----

static int of_rows(given *g, int64_t rows, tc_tensor *out) {
    tc_tensor x = tc_slice(g->x, 0, 0, rows, 1);
    scan_one(rnn, g, g->h, x, out);
    out[2] = tc_add(out[0], g->c), out[3] = tc_sum(out[1], 0);
    return 4;
}

CASE(no_rows) { return (void)tc, of_rows(g, 0, out); }
CASE(one_row) { return (void)tc, of_rows(g, 1, out); }
CASE(two_rows) { return (void)tc, of_rows(g, 2, out); }

CASE(many_rows) {
    tc_tensor x = tc_sin(tc_arange(tc, 0, 3000 * WIDE, 1, TC_F32));
    x = tc_reshape(x, TC_DIMS(3000, 1, WIDE));
    tc_scan(rnn, g, &g->h, 1, &x, 1, out, out + 1, 1);
    return 2;
}

// ---- cases: where rows come from, and where results go ----

CASE(strided_rows) {
    tc_tensor turned = tc_transpose(g->x, 0, 1); // [BATCH, ROWS, WIDE]
    tc_tensor init = tc_zeros(tc, TC_DIMS(ROWS, WIDE), TC_F32);
    scan_one(rnn, g, init, turned, out);
    scan_one(rnn, g, g->h, tc_slice(g->x, 0, 1, TC_END, 2), out + 2);
    tc_tensor wide = tc_movedim(g->x, 2, 0); // [WIDE, ROWS, BATCH]
    init = tc_zeros(tc, TC_DIMS(ROWS, BATCH), TC_F32);
    scan_one(running_sum, g, init, wide, out + 4);
    scan_one(running_sum, g, g->h, tc_flip(g->x, TC_DIMS(0)), out + 6);
    return 8;
}

CASE(rows_computed_and_results_used) {
    (void)tc;
    tc_tensor x = tc_softmax(tc_add(tc_matmul(g->x, g->u), g->y), -1);
    scan_one(rnn, g, tc_mul_s(g->h, 0.5), x, out);
    out[2] = tc_layer_norm(tc_matmul(out[1], g->u), g->b, tc_null(), 1e-5);
    out[3] = tc_add(tc_mean(out[1], 0), out[0]);
    out[4] = tc_amax_all(out[0]);
    return 5;
}

CASE(one_loop_behind_another) {
    tc_tensor h[2];
    (void)tc;
    tc_scan(rnn, g, &g->h, 1, &g->x, 1, &h[0], &out[0], 1);
    tc_tensor back = tc_flip(out[0], TC_DIMS(0));
    tc_scan(running_sum, g, &h[0], 1, &back, 1, &h[1], &out[1], 1);
    out[2] = h[1];
    return 3;
}

CASE(two_loops_of_one_producer) {
    (void)tc;
    tc_tensor x = tc_matmul(g->x, g->u);
    scan_one(rnn, g, g->h, x, out);
    scan_one(norms, g, g->h, x, out + 2);
    out[4] = tc_sum(x, 0);
    return 5;
}

CASE(the_same_loop_twice) {
    (void)tc;
    scan_one(rnn, g, g->h, g->x, out);
    return 2 + scan_one(rnn, g, g->h, g->x, out + 2);
}

// ---- cases: loops in loops ----

BODY(inner_sum) { // in: h, x [BATCH, WIDE]
    tc_tensor h = tc_mul_s(tc_select(in[0], 0, 0), 0.5), last, all;
    UNUSED;
    tc_scan(running_sum, NULL, &h, 1, &in[1], 1, &last, &all, 1);
    out[0] = tc_add(in[0], all), out[1] = last;
}

CASE(a_loop_in_a_loop) {
    (void)tc;
    return scan_one(inner_sum, g, g->h, g->x, out);
}

BODY(inner_of_outside) { // rows that are the same in each turn
    tc_tensor last, all;
    UNUSED;
    tc_scan(rnn, user, &in[0], 1, &GIVEN->y, 1, &last, &all, 1);
    out[0] = tc_tanh(tc_add(last, in[1])), out[1] = tc_sum(all, 0);
}

CASE(a_loop_over_the_outside_in_a_loop) {
    (void)tc;
    return scan_one(inner_of_outside, g, g->h, g->x, out);
}

BODY(twice_inner) {
    tc_tensor last, all, more;
    UNUSED;
    tc_scan(inner_sum, user, &in[0], 1, &GIVEN->x, 1, &last, &all, 1);
    tc_scan(running_sum, user, &last, 1, &GIVEN->y, 1, &more, NULL, 0);
    out[0] = tc_tanh(tc_add(more, in[1])), out[1] = tc_sum(all, 0);
}

CASE(three_loops_deep) {
    (void)tc;
    return scan_one(twice_inner, g, g->h, g->x, out);
}

// ---- cases: branches ----

BODY(doubled) {
    UNUSED;
    out[0] = tc_mul_s(in[0], 2), out[1] = tc_sum_all(in[0]);
}

BODY(multiplied) {
    UNUSED;
    out[0] = tc_matmul(in[0], GIVEN->w), out[1] = tc_mean_all(tc_mul(in[0], GIVEN->b));
}

CASE(branches) {
    (void)tc;
    tc_tensor sum = tc_sum_all(g->h);
    tc_cond(tc_gt_s(sum, 0), doubled, multiplied, g, &g->h, 1, out, 2);
    tc_cond(tc_le_s(sum, 0), doubled, multiplied, g, &g->h, 1, out + 2, 2);
    tc_tensor number = tc_reshape(tc_cast(tc_mul_s(sum, 100), TC_I32), TC_DIMS(1, 1));
    tc_cond(number, doubled, multiplied, g, &g->c, 1, out + 4, 2);
    out[6] = tc_add(out[0], tc_add(out[2], out[4]));
    return 7;
}

BODY(as_it_is) { UNUSED, out[0] = in[0]; }

BODY(of_outside) { UNUSED, out[0] = GIVEN->c; }

CASE(branches_that_do_nothing) {
    tc_tensor yes = tc_ones(tc, TC_DIMS(1), TC_BOOL), no = tc_logical_not(yes);
    tc_cond(yes, as_it_is, of_outside, g, &g->h, 1, out, 1);
    tc_cond(no, as_it_is, of_outside, g, &g->h, 1, out + 1, 1);
    tc_cond(no, of_outside, as_it_is, g, &g->h, 1, out + 2, 1);
    return 3;
}

BODY(branch_of_row) {
    tc_tensor give[2];
    UNUSED;
    give[0] = in[0];
    tc_cond(tc_gt_s(tc_sum_all(in[1]), 0), doubled, multiplied, user, give, 1, out, 2);
    out[0] = tc_tanh(tc_add(out[0], in[1]));
}

CASE(branches_in_a_loop) {
    (void)tc;
    return scan_one(branch_of_row, g, g->h, g->x, out);
}

BODY(looping_branch) {
    tc_tensor all;
    UNUSED;
    tc_scan(rnn, user, &in[0], 1, &GIVEN->x, 1, &out[0], &all, 1);
    out[1] = tc_sum_all(all);
}

CASE(loops_in_a_branch) {
    (void)tc;
    tc_tensor p = tc_gt_s(tc_sum_all(g->c), 0);
    tc_cond(p, looping_branch, doubled, g, &g->h, 1, out, 2);
    tc_cond(tc_logical_not(p), looping_branch, doubled, g, &g->h, 1, out + 2, 2);
    return 4;
}

// ---- cases: loops that ask ----

BODY(is_small) { UNUSED, out[0] = tc_lt_s(tc_norm_all(in[0], 2), 10); }

BODY(grows) {
    UNUSED;
    out[0] = tc_add(tc_mul_s(in[0], 1.25), tc_mul_s(tc_matmul(in[0], GIVEN->w), 0.125));
    out[1] = tc_add_s(in[1], 1);
}

CASE(as_long_as_it_is_small) {
    tc_tensor init[2];
    init[0] = g->h, init[1] = tc_scalar(tc, 0, TC_I32);
    tc_while(is_small, grows, g, init, 2, 100, out);
    tc_while(is_small, grows, g, init, 2, 3, out + 2);
    tc_while(is_small, grows, g, init, 2, 0, out + 4);
    init[0] = tc_mul_s(g->h, 1000);
    tc_while(is_small, grows, g, init, 2, 100, out + 6); // no turn
    return 8;
}

BODY(asks_in_a_loop) {
    tc_tensor init[2], got[2];
    init[0] = tc_add(in[0], in[1]), init[1] = tc_scalar(tc, 0, TC_I32);
    tc_while(is_small, grows, user, init, 2, 20, got);
    out[0] = tc_div_s(got[0], 4), out[1] = got[1];
}

CASE(loops_that_ask_in_a_loop) {
    (void)tc;
    return scan_one(asks_in_a_loop, g, g->h, g->x, out);
}

BODY(scan_while) {
    tc_tensor all;
    UNUSED;
    tc_scan(running_sum, user, &in[0], 1, &GIVEN->x, 1, &out[0], &all, 1);
    out[0] = tc_mul_s(out[0], 1.5), out[1] = tc_add_s(in[1], 1);
}

CASE(a_loop_in_one_that_asks) {
    tc_tensor init[2];
    init[0] = g->h, init[1] = tc_scalar(tc, 0, TC_I32);
    tc_while(is_small, scan_while, g, init, 2, 20, out);
    return 2;
}
