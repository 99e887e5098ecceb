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
#define UNUSED ((void)tc, (void)in, (void)user)

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

// ---- programs: what changes from visit to visit needs no other ----

// f32 [rows, batch, 2]: 1, 2, 3, ...
static tc_tensor counted(tc_ctx *tc, int rows, int batch) {
    return tc_reshape(line(tc, rows * batch * 2, 1, 1), TC_DIMS(rows, batch, 2));
}

static double sum_to(double n) { return n * (n + 1) / 2; }

BOTH(any_number_of_rows_and_batch_is_two_programs) {
    for (int visit = 0; visit < 12; visit++) {
        int rows = 1 + visit * 5 % 7, batch = 1 + visit * 3 % 4;
        tc_tensor x = counted(tc, rows, batch), last, ys;
        tc_tensor init = tc_zeros(tc, TC_DIMS(batch, 2), TC_F32);
        BEGIN("any");
        tc_scan(running_sum, NULL, &init, 1, &x, 1, &last, &ys, 1);
        tc_tensor sum = tc_sum_all(last), end = tc_sum_all(tc_select(ys, 0, -1));
        END();
        CHECK_NEAR(AT(sum, 0), sum_to(rows * batch * 2), 0);
        CHECK_NEAR(AT(end, 0), sum_to(rows * batch * 2), 0);
        CHECK_NEAR(AT(ys, 0), 1, 0);
        CHECK_EQ(tc_dim(ys, 0), rows);
    }
    CHECK(tc_stats_get(tc).programs <= 4);
}

BOTH(no_rows_beside_many) {
    int rows[] = {3, 5, 0, 4, 0, 1};
    for (int visit = 0; visit < 6; visit++) {
        tc_tensor x = counted(tc, rows[visit], 1), init = line(tc, 2, 10, 0), last, ys;
        init = tc_reshape(init, TC_DIMS(1, 2));
        BEGIN("none");
        tc_scan(running_sum, NULL, &init, 1, &x, 1, &last, &ys, 1);
        END();
        CHECK_EQ(tc_numel(ys), 2 * rows[visit]);
        CHECK_NEAR(AT(last, 0) + AT(last, 1), 20 + sum_to(2 * rows[visit]), 0);
    }
}

BODY(scaled_sum) {
    UNUSED;
    out[0] = tc_add(in[0], tc_mul(in[1], *(tc_tensor *)user));
}

BOTH(captured_tensors_change_their_contents) {
    tc_tensor x = line(tc, 4, 1, 1), w = line(tc, 1, 1, 0), last;
    tc_tensor init = tc_scalar(tc, 0, TC_F32);
    w = tc_reshape(w, tc_shape(init));
    for (int visit = 1; visit < 5; visit++) {
        BEGIN("captured");
        tc_scan(scaled_sum, &w, &init, 1, &x, 1, &last, NULL, 0);
        END();
        CHECK_NEAR(AT(last, 0), 10 * visit, 0);
        tc_add_s_(w, 1);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

BOTH(predicates_change_in_one_program) {
    given g = give(tc, 3);
    tc_tensor h = tc_ones(tc, TC_DIMS(2, 2), TC_F32), out[2];
    g.w = tc_full(tc, TC_DIMS(2, 2), 3, TC_F32), g.b = line(tc, 2, 5, 0);
    for (int visit = 0; visit < 6; visit++) {
        int yes = visit % 3 == 1;
        tc_tensor p = tc_full(tc, TC_DIMS(1), yes, visit < 6 ? TC_I32 : TC_BOOL);
        BEGIN("branch");
        CHECK_EQ(tc_cond(p, doubled, multiplied, &g, &h, 1, out, 2), TC_OK);
        END();
        CHECK_NEAR(AT(out[0], 3), yes ? 2 : 6, 0);
        CHECK_NEAR(AT(out[1], 0), yes ? 4 : 5, 0);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

BODY(below_hundred) { UNUSED, out[0] = tc_lt_s(in[0], 100); }

BODY(twice_and_count) {
    UNUSED;
    out[0] = tc_mul_s(in[0], 2), out[1] = tc_add_s(in[1], 1);
}

BOTH(turns_change_in_one_program) {
    static const double from[] = {60, 1, 200, 99, 10};
    static const int turns[] = {1, 7, 0, 1, 4};
    for (int visit = 0; visit < 5; visit++) {
        tc_tensor init[2], out[2];
        init[0] = tc_full(tc, TC_DIMS(1), from[visit], TC_F32);
        init[1] = tc_full(tc, TC_DIMS(1), 0, TC_F32);
        BEGIN("turns");
        CHECK_EQ(tc_while(below_hundred, twice_and_count, NULL, init, 2, 20, out), TC_OK);
        END();
        CHECK_NEAR(AT(out[0], 0), ldexp(from[visit], turns[visit]), 0);
        CHECK_NEAR(AT(out[1], 0), turns[visit], 0);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 1);
}

// ---- functions ----

static int bodies; // how often the body of a function ran

BODY(scanning_function) {
    bodies++;
    tc_tensor ys;
    tc_scan(running_sum, user, &in[0], 1, &in[1], 1, &out[0], &ys, 1);
    out[1] = tc_mul_s(ys, 2);
    (void)tc;
}

BOTH(a_function_with_a_loop_skips_its_body) {
    tc_fn *f = tc_compile(tc, scanning_function, NULL, 0, NULL);
    for (int visit = 0; visit < 6; visit++) {
        tc_tensor in[2], out[2];
        in[0] = tc_zeros(tc, TC_DIMS(2), TC_F32);
        in[1] = tc_reshape(line(tc, 8, visit, 1), TC_DIMS(4, 2));
        CALL(f, in, 2, out, 2);
        CHECK_NEAR(AT(out[0], 0), 12 + 4 * visit, 0);
        CHECK_NEAR(AT(out[1], 7), 2 * (16 + 4 * visit), 0);
    }
    CHECK_EQ(bodies, 2);
    for (int rows = 1; rows < 7; rows++) {
        tc_tensor in[2], out[2];
        in[0] = tc_zeros(tc, TC_DIMS(2), TC_F32);
        in[1] = tc_reshape(line(tc, 2 * rows, 1, 0), TC_DIMS(rows, 2));
        CALL(f, in, 2, out, 2);
        CHECK_NEAR(AT(out[0], 0), rows, 0);
    }
    CHECK(tc_stats_get(tc).programs <= 4);
    tc_fn_free(f);
}

// ---- many calls: later ones take a shorter way than the first dozens ----

enum { CALLS = 150 };

BODY(is_above_one) { UNUSED, out[0] = tc_any_all(tc_gt_s(in[0], 1)); }
BODY(half_of_it) { UNUSED, out[0] = tc_mul_s(in[0], 0.5); }

BODY(halving_function) {
    (void)user;
    tc_while(is_above_one, half_of_it, NULL, in, 1, 100, out);
    (void)tc;
}

BODY(deriving_function) { // of the sum of all rows
    tc_tensor last, ys, x = in[1];
    tc_scan(running_sum, user, &in[0], 1, &x, 1, &last, &ys, 1);
    out[0] = last;
    tc_grad(tc_sum_all(tc_square(last)), &x, 1, &out[1]);
    (void)tc;
}

BOTH(a_function_with_a_loop_is_called_often) {
    tc_fn *halving = tc_compile(tc, halving_function, NULL, 0, NULL);
    tc_fn *deriving = tc_compile(tc, deriving_function, NULL, 0, NULL);
    for (int call = 0; call < CALLS; call++) {
        int rows = 1 + call % 4;
        double want = 1 + call % 7, sum = rows * (call + (rows - 1) / 2.0);
        tc_tensor x = tc_full(tc, TC_DIMS(4), want, TC_F32), y, in[2], out[2];
        while (want > 1) want /= 2;
        CALL(halving, &x, 1, &y, 1);
        if (AT(y, 3) != want) FAIL("call %d: %g, not %g", call, AT(y, 3), want);
        in[0] = tc_zeros(tc, TC_DIMS(1), TC_F32);
        in[1] = tc_reshape(line(tc, 4, call, 1), TC_DIMS(4, 1));
        in[1] = tc_contiguous(tc_narrow(in[1], 0, 0, rows));
        CALL(deriving, in, 2, out, 2);
        if (fabs(AT(out[0], 0) - sum) > 1e-3 || tc_dim(out[1], 0) != rows)
            FAIL("call %d of %d rows: %g, not %g", call, rows, AT(out[0], 0), sum);
        if (fabs(AT(out[1], rows - 1) - 2 * sum) > 1e-3)
            FAIL("call %d: gradient %g, not %g", call, AT(out[1], rows - 1), 2 * sum);
        tc_free(x), tc_free(y), tc_free(out[0]), tc_free(out[1]);
    }
    tc_fn_free(halving), tc_fn_free(deriving);
}

BODY(triple) { UNUSED, out[0] = tc_mul_s(in[0], 3); }

BODY(calls_a_function) {
    tc_tensor t;
    UNUSED;
    CHECK_EQ(tc_call((tc_fn *)user, &in[1], 1, &t, 1), TC_OK);
    out[0] = tc_add(in[0], t);
}

BOTH(a_call_in_a_body) {
    tc_fn *f = tc_compile(tc, triple, NULL, 0, NULL);
    tc_tensor x = line(tc, 4, 1, 1), init = tc_scalar(tc, 0, TC_F32), last;
    CHECK_EQ(tc_scan(calls_a_function, f, &init, 1, &x, 1, &last, NULL, 0), TC_OK);
    CHECK_NEAR(AT(last, 0), 30, 0);
    for (int visit = 0; visit < 3; visit++) {
        BEGIN("calls");
        CHECK_EQ(tc_scan(calls_a_function, f, &init, 1, &x, 1, &last, NULL, 0), TC_OK);
        END();
        CHECK_NEAR(AT(last, 0), 30, 0);
    }
    tc_fn_free(f);
}

// ---- errors ----

// What fails outside and in a region, and is followed by work that does not.
typedef tc_status (*wrong)(tc_ctx *tc);

static void expect(tc_ctx *tc, int region, wrong f, tc_status item, const char *text,
                   int line_number) {
    tc_tensor x = line(tc, 4, 1, 1), init = tc_scalar(tc, 0, TC_F32), last = tc_null();
    if (region) BEGIN("wrong");
    tc_status s = f(tc);
    if (s != item)
        test_fail(__FILE__, line_number, "%s: it gives %s (%s)", region ? "in" : "out",
                  tc_status_name(s), tc_error_text(tc));
    if (region) CHECK_EQ(tc_trace_end(tc), item);
    expect_error(tc, item, text, __FILE__, line_number);
    if (region) BEGIN("right");
    CHECK_EQ(tc_scan(running_sum, NULL, &init, 1, &x, 1, &last, NULL, 0), TC_OK);
    if (region) END();
    CHECK_NEAR(AT(last, 0), 10, 0);
}

#define IN_REGION(f, item, text) expect(tc, 1, (f), (item), (text), __LINE__)
#define OUTSIDE(f, item, text)   expect(tc, 0, (f), (item), (text), __LINE__)
#define WRONG(f, item, text)                                                               \
    do {                                                                                   \
        IN_REGION(f, item, text);                                                          \
        OUTSIDE(f, item, text);                                                            \
    } while (0)

// A loop over four numbers with one carry, that begins with 0.
static tc_status scan_numbers(tc_ctx *tc, tc_body body) {
    tc_tensor x = tc_arange(tc, 0, 4, 1, TC_F32), last = x, ys = x;
    tc_tensor init = tc_scalar(tc, 0, TC_F32);
    tc_status s = tc_scan(body, NULL, &init, 1, &x, 1, &last, &ys, 1);
    CHECK(!s || tc_is_null(last));
    CHECK(!s || tc_is_null(ys));
    return s;
}

static tc_status no_body(tc_ctx *tc) { return scan_numbers(tc, NULL); }

static tc_status no_xs(tc_ctx *tc) {
    tc_tensor init = tc_scalar(tc, 0, TC_F32), last;
    return tc_scan(running_sum, NULL, &init, 1, NULL, 0, &last, NULL, 0);
}

static tc_status nothing_to_give(tc_ctx *tc) {
    tc_tensor x = tc_arange(tc, 0, 4, 1, TC_F32);
    return tc_scan(running_sum, NULL, NULL, 0, &x, 1, NULL, NULL, 0);
}

static tc_status other_rows(tc_ctx *tc) {
    tc_tensor x[2], last;
    x[0] = tc_arange(tc, 0, 4, 1, TC_F32), x[1] = tc_arange(tc, 0, 5, 1, TC_F32);
    return tc_scan(running_sum, NULL, x, 1, x, 2, &last, NULL, 0);
}

static tc_status rows_of_a_number(tc_ctx *tc) {
    tc_tensor x = tc_scalar(tc, 4, TC_F32), last;
    return tc_scan(running_sum, NULL, &x, 1, &x, 1, &last, NULL, 0);
}

static tc_status null_init(tc_ctx *tc) {
    tc_tensor x = tc_arange(tc, 0, 4, 1, TC_F32), last;
    return tc_scan(running_sum, NULL, NULL, 1, &x, 1, &last, NULL, 0);
}

static tc_status null_ys(tc_ctx *tc) {
    tc_tensor x = tc_arange(tc, 0, 4, 1, TC_F32);
    return tc_scan(running_sum, NULL, NULL, 0, &x, 1, NULL, NULL, 1);
}

static tc_status too_many(tc_ctx *tc) {
    tc_tensor x[65], last[65];
    for (int i = 0; i < 65; i++) x[i] = tc_arange(tc, 0, 4, 1, TC_F32);
    tc_status s = tc_scan(running_sum, NULL, x, 65, x, 1, last, NULL, 0);
    CHECK(tc_is_null(last[64]));
    return s;
}

BODY(gets_larger) {
    UNUSED;
    out[0] = tc_unsqueeze(in[0], 0), out[1] = in[1];
}
BODY(gets_wider) { UNUSED, out[0] = tc_cast(in[0], TC_F64), out[1] = in[1]; }
BODY(sets_one) { UNUSED, out[0] = in[0]; }
BODY(sets_none) { (void)tc, (void)in, (void)out, (void)user; }
static tc_status larger(tc_ctx *tc) { return scan_numbers(tc, gets_larger); }
static tc_status wider(tc_ctx *tc) { return scan_numbers(tc, gets_wider); }
static tc_status one_is_not_set(tc_ctx *tc) { return scan_numbers(tc, sets_one); }
static tc_status none_is_set(tc_ctx *tc) { return scan_numbers(tc, sets_none); }

BOTH(errors_of_what_is_given) {
    WRONG(no_body, TC_E_NULL, "tc_scan: the body is null");
    WRONG(no_xs, TC_E_ARG, "tc_scan: there are no xs");
    WRONG(nothing_to_give, TC_E_ARG, "neither carries nor ys");
    WRONG(other_rows, TC_E_SHAPE, "xs[0] has 4 rows, xs[1] 5");
    WRONG(rows_of_a_number, TC_E_RANK, "xs[0] is a number and has no rows");
    WRONG(null_init, TC_E_NULL, "init is null");
    WRONG(null_ys, TC_E_NULL, "ys is null");
    WRONG(too_many, TC_E_ARG, "65 carries");
}

BOTH(errors_of_what_the_body_gives) {
    WRONG(larger, TC_E_SHAPE, "out[0] of the body is f32[1], carry 0 was f32[]");
    WRONG(wider, TC_E_DTYPE, "out[0] of the body is f64[], carry 0 was f32[]");
    WRONG(one_is_not_set, TC_E_NULL, "tc_scan: the body did not set out[1]");
    WRONG(none_is_set, TC_E_NULL, "tc_scan: the body did not set out[0]");
}

static tc_tensor outside; // of what bodies reach for

BODY(writes_outside) {
    UNUSED;
    tc_add_s_(outside, 1);
    out[0] = out[1] = tc_add(in[0], in[1]);
}

static tc_status write_outside(tc_ctx *tc) { return scan_numbers(tc, writes_outside); }

BODY(draws) {
    UNUSED, out[0] = out[1] = tc_add(in[0], tc_rand(tc, tc_shape(in[0]), TC_F32));
}
BODY(drops) { UNUSED, out[0] = out[1] = tc_add(in[0], tc_dropout(in[1], 0.5)); }
BODY(reads) {
    UNUSED;
    out[0] = out[1] = tc_add_s(in[0], tc_item(in[1]));
}
BODY(reads_bytes) {
    float x = 0;
    UNUSED;
    tc_read(in[1], &x, sizeof x);
    out[0] = out[1] = in[0];
}
BODY(keeps) { UNUSED, out[0] = out[1] = tc_keep(tc_add(in[0], in[1])); }
static tc_status draw(tc_ctx *tc) { return scan_numbers(tc, draws); }
static tc_status drop(tc_ctx *tc) { return scan_numbers(tc, drops); }
static tc_status read_item(tc_ctx *tc) { return scan_numbers(tc, reads); }
static tc_status read_bytes(tc_ctx *tc) { return scan_numbers(tc, reads_bytes); }
static tc_status keep(tc_ctx *tc) { return scan_numbers(tc, keeps); }

BOTH(errors_of_what_a_body_may_not) {
    outside = line(tc, 4, 1, 1);
    IN_REGION(write_outside, TC_E_UNSUPPORTED,
              "what is from outside of it is not written in place; make that a carry");
    CHECK_NEAR(AT(outside, 0), 1, 0);
    IN_REGION(draw, TC_E_UNSUPPORTED, "nothing random is drawn; draw before the loop");
    IN_REGION(drop, TC_E_UNSUPPORTED, "nothing random is drawn; draw before the loop");
    IN_REGION(read_item, TC_E_UNSUPPORTED, "no value is read");
    IN_REGION(read_bytes, TC_E_UNSUPPORTED, "no value is read");
    IN_REGION(keep, TC_E_UNSUPPORTED, "nothing is kept; give it as a result");
}

BODY(ends_the_region) {
    UNUSED;
    tc_trace_end(tc);
    out[0] = out[1] = tc_add(in[0], in[1]);
}
BODY(begins_the_region) {
    UNUSED;
    BEGIN("wrong");
    out[0] = out[1] = tc_add(in[0], in[1]);
}
BODY(begins_a_region) {
    UNUSED;
    BEGIN("inner");
    out[0] = out[1] = tc_add(in[0], in[1]);
}
BODY(has_a_region) {
    UNUSED;
    BEGIN("inner");
    out[0] = out[1] = tc_add(in[0], in[1]);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}
BODY(disables) {
    UNUSED;
    tc_disable_begin(tc);
    out[0] = out[1] = in[0];
}
static tc_status end_region(tc_ctx *tc) { return scan_numbers(tc, ends_the_region); }
static tc_status begin_again(tc_ctx *tc) { return scan_numbers(tc, begins_the_region); }
static tc_status begin_region(tc_ctx *tc) { return scan_numbers(tc, begins_a_region); }
static tc_status disable(tc_ctx *tc) { return scan_numbers(tc, disables); }

BOTH(regions_are_not_ended_in_a_body) {
    tc_tensor x = line(tc, 4, 1, 1), init = tc_scalar(tc, 0, TC_F32), last, ys;
    IN_REGION(end_region, TC_E_REGION, "tc_trace_end: region \"wrong\" is open around");
    IN_REGION(begin_again, TC_E_REGION, "tc_trace_begin: region \"wrong\" is open around");
    IN_REGION(begin_region, TC_E_REGION, "has a tc_trace_begin without its tc_trace_end");
    IN_REGION(disable, TC_E_REGION, "has a tc_disable_begin without its tc_disable_end");
    BEGIN("outer");
    CHECK_EQ(tc_scan(has_a_region, NULL, &init, 1, &x, 1, &last, &ys, 1), TC_OK);
    END();
    CHECK_NEAR(AT(last, 0), 10, 0);
}

// ---- what is of a body ends with it ----

static tc_tensor leaked[2];

BODY(leaks) {
    UNUSED;
    leaked[0] = tc_mul_s(in[1], 2), leaked[1] = in[0];
    out[0] = out[1] = tc_add(in[0], leaked[0]);
}

BOTH(a_tensor_of_a_body_is_not_used_behind_it) {
    tc_tensor x = line(tc, 4, 1, 1);
    for (int i = 0; i < 2; i++) {
        BEGIN("used");
        CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
        CHECK(tc_is_null(tc_add(leaked[i], x)));
        CHECK_EQ(tc_trace_end(tc), TC_E_DEAD);
        ERROR(TC_E_DEAD, "loop");
    }
}

BOTH(a_tensor_of_a_body_is_not_read_behind_it) {
    float f[4];
    for (int i = 0; i < 2; i++) {
        BEGIN("read_inside");
        CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
        CHECK_EQ(tc_read(leaked[i], f, 4), TC_E_DEAD);
        CHECK_EQ(tc_trace_end(tc), TC_E_DEAD);
        ERROR(TC_E_DEAD, "loop");
        BEGIN("read_behind");
        CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
        END();
        CHECK_EQ(tc_read(leaked[i], f, 4), TC_E_DEAD);
        ERROR(TC_E_DEAD, "loop");
        CHECK(tc_is_null(tc_neg(leaked[i])));
        ERROR(TC_E_DEAD, "loop");
        BEGIN("used_in_another");
        CHECK(tc_is_null(tc_neg(leaked[i])));
        CHECK_EQ(tc_trace_end(tc), TC_E_DEAD);
        ERROR(TC_E_DEAD, "loop");
    }
}

BOTH(a_tensor_of_a_body_is_not_kept_nor_written_behind_it) {
    BEGIN("kept");
    CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
    CHECK(tc_is_null(tc_keep(leaked[0])));
    CHECK_EQ(tc_trace_end(tc), TC_E_DEAD);
    ERROR(TC_E_DEAD, "loop");
    BEGIN("written");
    CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
    CHECK(tc_is_null(tc_fill_(leaked[1], 2)));
    CHECK_EQ(tc_trace_end(tc), TC_E_DEAD);
    ERROR(TC_E_DEAD, "loop");
}

BODY(leaks_inside) {
    tc_tensor last, row = tc_reshape(in[1], TC_DIMS(1));
    UNUSED;
    tc_scan(leaks, user, &in[0], 1, &row, 1, &last, &leaked[1], 1);
    out[0] = out[1] = tc_add(last, leaked[0]);
}

static tc_status leak_inside(tc_ctx *tc) { return scan_numbers(tc, leaks_inside); }

BOTH(a_tensor_of_an_inner_body_is_not_used_in_the_outer_one) {
    IN_REGION(leak_inside, TC_E_DEAD, "loop");
}

BOTH(views_of_a_body_end_with_it_too) {
    BEGIN("views");
    CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
    CHECK(tc_is_null(tc_unsqueeze(leaked[1], 0)));
    CHECK_EQ(tc_trace_end(tc), TC_E_DEAD);
    ERROR(TC_E_DEAD, "loop");
}

BODY(gives_what_leaked) {
    UNUSED;
    CHECK_EQ(scan_numbers(tc, leaks), TC_OK);
    out[0] = leaked[0];
}

BOTH(a_function_does_not_give_a_tensor_of_a_body) {
    tc_tensor x = line(tc, 4, 1, 1), y;
    tc_fn *f = tc_compile(tc, gives_what_leaked, NULL, 0, NULL);
    CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_E_DEAD);
    ERROR(TC_E_DEAD, "loop");
    tc_fn_free(f);
}

static tc_status sees_nothing(void *user, const tc_buffer *in, int n_in) {
    (void)user, (void)in, (void)n_in;
    return TC_OK;
}

BODY(calls_the_host) {
    UNUSED;
    tc_host_call(tc, sees_nothing, NULL, &in[1], 1);
    out[0] = out[1] = in[0];
}

static tc_status call_host(tc_ctx *tc) { return scan_numbers(tc, calls_the_host); }

BOTH(the_host_is_not_called_in_a_body) {
    IN_REGION(call_host, TC_E_UNSUPPORTED, "no value is read");
}

// ---- errors of branches and of loops that ask ----

BODY(yes_of_two) { UNUSED, out[0] = tc_unsqueeze(in[0], 0); }
BODY(no_of_one) { UNUSED, out[0] = in[0]; }

static tc_status cond_of(tc_ctx *tc, tc_tensor p, tc_body yes, tc_body no, int n) {
    tc_tensor x = tc_arange(tc, 0, 4, 1, TC_F32), out[80];
    for (int i = 0; i < 80; i++) out[i] = x;
    tc_status s = tc_cond(p, yes, no, NULL, &x, 1, out, n);
    for (int i = 0; i < n && s; i++) CHECK(tc_is_null(out[i]));
    return s;
}

static tc_status float_predicate(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(1), TC_F32), no_of_one, no_of_one, 1);
}
static tc_status many_predicates(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(2), TC_BOOL), no_of_one, no_of_one, 1);
}
static tc_status null_predicate(tc_ctx *tc) {
    return cond_of(tc, tc_null(), no_of_one, no_of_one, 1);
}
static tc_status null_branch(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(1), TC_BOOL), no_of_one, NULL, 1);
}
static tc_status no_result(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(1), TC_BOOL), no_of_one, no_of_one, 0);
}
static tc_status many_results(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(1), TC_BOOL), no_of_one, no_of_one, 64);
}
static tc_status unset_branch(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(1), TC_BOOL), sets_none, sets_none, 1);
}
static tc_status unlike(tc_ctx *tc) {
    return cond_of(tc, tc_ones(tc, TC_DIMS(1), TC_BOOL), yes_of_two, no_of_one, 1);
}

BOTH(errors_of_branches) {
    WRONG(float_predicate, TC_E_DTYPE, "the predicate is f32[1]; one bool or integer");
    WRONG(many_predicates, TC_E_DTYPE, "the predicate is bool[2]; one bool or integer");
    WRONG(null_predicate, TC_E_NULL, "tc_cond");
    WRONG(null_branch, TC_E_NULL, "tc_cond: no (pred is false) is null");
    WRONG(no_result, TC_E_ARG, "n_out 0");
    WRONG(many_results, TC_E_ARG, "n_out 64");
    WRONG(unset_branch, TC_E_NULL, "did not set out[0]");
    IN_REGION(unlike, TC_E_SHAPE, "both must have the same sizes and dtype");
}

BODY(asks_floats) { UNUSED, out[0] = in[0]; }
BODY(asks_many) { UNUSED, out[0] = tc_gt_s(tc_arange(tc, 0, 3, 1, TC_F32), 0), (void)in; }
BODY(asks_nothing) { (void)tc, (void)in, (void)out, (void)user; }
BODY(asks_well) { UNUSED, out[0] = tc_lt_s(in[0], 3); }
BODY(counts) { UNUSED, out[0] = tc_add_s(in[0], 1); }

static tc_status while_of(tc_ctx *tc, tc_body test, tc_body body, int n, int64_t most) {
    tc_tensor x[70], out[70];
    for (int i = 0; i < 70; i++) x[i] = out[i] = tc_scalar(tc, 0, TC_F32);
    tc_status s = tc_while(test, body, NULL, x, n, most, out);
    for (int i = 0; i < n && s; i++) CHECK(tc_is_null(out[i]));
    return s;
}

static tc_status no_test(tc_ctx *tc) { return while_of(tc, NULL, counts, 1, 9); }
static tc_status no_turn(tc_ctx *tc) { return while_of(tc, asks_well, NULL, 1, 9); }
static tc_status none(tc_ctx *tc) { return while_of(tc, asks_well, counts, 0, 9); }
static tc_status sixty_three(tc_ctx *tc) { return while_of(tc, asks_well, counts, 63, 9); }
static tc_status less_than_0(tc_ctx *tc) { return while_of(tc, asks_well, counts, 1, -1); }
static tc_status ask_floats(tc_ctx *tc) { return while_of(tc, asks_floats, counts, 1, 9); }
static tc_status ask_many(tc_ctx *tc) { return while_of(tc, asks_many, counts, 1, 9); }
static tc_status ask_nothing(tc_ctx *tc) {
    return while_of(tc, asks_nothing, counts, 1, 9);
}
static tc_status other_carry(tc_ctx *tc) {
    return while_of(tc, asks_well, gets_larger, 1, 9);
}

BOTH(errors_of_loops_that_ask) {
    WRONG(no_test, TC_E_NULL, "tc_while: the test is null");
    WRONG(no_turn, TC_E_NULL, "tc_while: the body is null");
    WRONG(none, TC_E_ARG, "tc_while: n is 0; 1 to");
    WRONG(sixty_three, TC_E_ARG, "n is 63");
    WRONG(less_than_0, TC_E_ARG, "most -1");
    WRONG(ask_floats, TC_E_DTYPE, "tc_while: out[0] of the test is f32[]; one bool");
    WRONG(ask_many, TC_E_DTYPE, "tc_while: out[0] of the test is bool[3]; one bool");
    WRONG(ask_nothing, TC_E_NULL, "tc_while: the test did not set out[0]");
    WRONG(other_carry, TC_E_SHAPE, "out[0] of the body is f32[1], carry 0 was f32[]");
}

// ---- registered backends ----

static int asked; // how often the backend was

static tc_status compile_nothing(void *user, const tc_graph *graph, void **state,
                                 const char **why) {
    (void)user, (void)graph, (void)state, (void)why;
    asked++;
    return TC_OK;
}

static tc_status run_nothing(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state, (void)run;
    asked++;
    return TC_OK;
}

static void note_warning(void *user, int level, const char *channel, const char *text) {
    if (strstr(text, "has loops or branches")) ++*(int *)user;
    (void)level, (void)channel;
}

TEST(a_backend_is_not_given_loops) {
    int warned = 0;
    tc_backend b;
    tc_config config = tc_config_default();
    memset(&b, 0, sizeof b);
    b.name = "nothing", b.compile = compile_nothing, b.run = run_nothing;
    config.no_disk_cache = 1, config.logger.log = note_warning,
    config.logger.user = &warned;
    tc_ctx *tc = tc_open(&config);
    CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    tc_options o;
    memset(&o, 0, sizeof o);
    o.backend = "nothing";
    tc_tensor x = line(tc, 4, 1, 1), init = tc_scalar(tc, 0, TC_F32), last;
    for (int visit = 0; visit < 3; visit++) {
        tc_trace_begin_at(tc, "theirs", &o, "test.c", 1);
        CHECK_EQ(tc_scan(running_sum, NULL, &init, 1, &x, 1, &last, NULL, 0), TC_OK);
        END();
        CHECK_NEAR(AT(last, 0), 10, 0);
    }
    CHECK_EQ(asked, 0);
    CHECK_EQ(warned, 1);
    tc_close(tc);
}
