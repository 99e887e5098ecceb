// Products in loops, whose weights a thread packs once for all turns: weights that stay, that another run finds changed, that an
// outer loop makes anew, that each turn has others of; of more columns than a thread keeps panels for, of rows that threads share. Held, in bits, against
// loops in C that add k in order, one fma a step.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { TURNS = 5, OUTER = 3, MOST = 1 << 18 };

typedef enum kind {
    STAYING, // one matrix for all turns
    TURNED,  //   which lies [columns, k]
    ROWS,    // one of `TURNS` for each turn
    NESTED,  // an outer loop doubles it
    KINDS
} kind;

typedef struct loop {
    kind kind;
    int m, n; // carry [m, n], weights [n, n]
} loop;

static const loop loops[] = {
    {STAYING, 20, 128}, {STAYING, 32, 256}, {STAYING, 50, 130}, {STAYING, 17, 330},
    {TURNED, 17, 130},  {TURNED, 32, 192},  {TURNED, 70, 96},   {ROWS, 20, 128},
    {NESTED, 24, 130},  {NESTED, 33, 64},   {STAYING, 13, 520}, {TURNED, 13, 40},
};
enum { LOOPS = sizeof loops / sizeof *loops };

// Weights that carries neither grow nor vanish by.
static float weight_at(const loop *l, unsigned i, unsigned seed) {
    return (float)(test_number(i, seed) * 1.5 / sqrt(l->n));
}

static int matrices(const loop *l) { return l->kind == ROWS ? TURNS : 1; }

typedef struct given {
    const loop *l;
    tc_tensor w, h, x;
} given;

static int weights(const loop *l) { return matrices(l) * l->n * l->n; }

// Weights are in memory of the test, which writes others there.
static given give(tc_ctx *tc, const loop *l, float *w) {
    static float h[MOST];
    int m = l->m, n = l->n;
    given g = {l, {0}, {0}, {0}};
    CHECK(TURNS * m * n <= MOST);
    g.w = tc_wrap(tc, w, TC_DIMS(matrices(l), n, n), TC_F32);
    for (int i = 0; i < m * n; i++) h[i] = (float)test_number((unsigned)i, 7);
    g.h = tc_from_data(tc, h, TC_DIMS(m, n), TC_F32);
    for (int i = 0; i < TURNS * m * n; i++) h[i] = (float)test_number((unsigned)i, 8);
    g.x = tc_from_data(tc, h, TC_DIMS(TURNS, m, n), TC_F32);
    return g;
}

static tc_tensor matrix(tc_tensor w, const loop *l) {
    w = tc_reshape(w, TC_DIMS(l->n, l->n));
    return l->kind == TURNED ? tc_transpose(w, 0, 1) : w;
}

static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const given *g = (const given *)user;
    (void)tc;
    tc_tensor w = matrix(g->l->kind == ROWS ? in[2] : g->w, g->l);
    out[0] = tc_add(tc_matmul(in[0], w), in[1]);
}

static void outer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    given g = *(const given *)user;
    (void)tc;
    g.w = tc_add(in[1], in[1]);
    tc_scan(turn, &g, &in[0], 1, &g.x, 1, &out[0], NULL, 0);
    out[1] = g.w;
}

static tc_tensor run_loop(tc_ctx *tc, given *g) {
    tc_tensor last[2], first[2] = {g->h, g->w}, xs[2] = {g->x, g->w};
    if (g->l->kind == NESTED) {
        tc_tensor number = tc_arange(tc, 0, OUTER, 1, TC_F32);
        tc_scan(outer, g, first, 2, &number, 1, last, NULL, 0);
        return last[0];
    }
    tc_scan(turn, g, first, 1, xs, g->l->kind == ROWS ? 2 : 1, last, NULL, 0);
    return last[0];
}

static void expect(const loop *l, const float *w, float *h) {
    static float next[MOST];
    int m = l->m, n = l->n, times = l->kind == NESTED ? OUTER : 1;
    float scale = 1;
    for (int i = 0; i < m * n; i++) h[i] = (float)test_number((unsigned)i, 7);
    for (int t = 0; t < times * TURNS; t++) {
        if (l->kind == NESTED && t % TURNS == 0) scale *= 2;
        for (int r = 0; r < m; r++)
            for (int c = 0; c < n; c++) {
                float sum = 0;
                for (int k = 0; k < n; k++) {
                    int at = l->kind == TURNED ? c * n + k : k * n + c;
                    if (l->kind == ROWS) at += t * n * n;
                    sum = fmaf(h[r * n + k], scale * w[at], sum);
                }
                next[r * n + c] =
                    sum + (float)test_number((unsigned)((t % TURNS * m + r) * n + c), 8);
            }
        memcpy(h, next, (size_t)(m * n) * sizeof *h);
    }
}

// Twice, with other weights in the same memory.
static void run_all(const char *backend, const char *isa, int threads) {
    static float got[MOST], want[MOST];
    float *w[LOOPS];
    tc_config config = tc_config_default();
    config.backend = backend, config.isa = isa, config.threads = threads;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    given g[LOOPS];
    REQUIRE(tc);
    for (int i = 0; i < LOOPS; i++) {
        w[i] = (float *)malloc((size_t)weights(&loops[i]) * sizeof **w);
        REQUIRE(w[i]);
        g[i] = give(tc, &loops[i], w[i]);
    }
    for (unsigned seed = 1; seed <= 2; seed++) {
        tc_tensor out[LOOPS];
        for (int i = 0; i < LOOPS; i++)
            for (int k = 0; k < weights(&loops[i]); k++)
                w[i][k] = weight_at(&loops[i], (unsigned)k, seed);
        tc_trace_begin(tc, "loops");
        for (int i = 0; i < LOOPS; i++) out[i] = run_loop(tc, &g[i]);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        for (int i = 0; i < LOOPS; i++) {
            size_t bytes = (size_t)(loops[i].m * loops[i].n) * sizeof *got;
            CHECK_EQ(tc_read(out[i], got, bytes), TC_OK);
            expect(&loops[i], w[i], want);
            if (memcmp(got, want, bytes)) FAIL("loop %d, run %u: other bits", i, seed);
        }
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_stats_get(tc).fallbacks, 0);
    tc_close(tc);
    for (int i = 0; i < LOOPS; i++) free(w[i]);
}

TEST(interpreted) { run_all("aot_eager", NULL, 2); }
TEST(one_thread) { run_all("cpu", NULL, 1); }
TEST(two_threads) { run_all("cpu", NULL, 2); }
TEST(nine_threads) { run_all("cpu", NULL, 9); }
TEST(avx2) { run_all("cpu", "avx2", 2); }
TEST(baseline) { run_all("cpu", "baseline", 2); }

// ---- who keeps ----

// Launches of a region that keep what they packed, and the last of them.
typedef struct seen {
    int kept;
    int64_t items, rows; // of an item,
    int all_columns;     //   which has them
} seen;

static seen look(const loop *l, int threads) {
    seen found = {0, 0, 0, 0};
    tc_config config = tc_config_default();
    config.threads = threads, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    float *w = (float *)calloc((size_t)weights(l), sizeof *w);
    if (!CHECK(tc && w)) return found;
    given g = give(tc, l, w);
    tc_trace_begin(tc, "one");
    tc_tensor y = run_loop(tc, &g);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    (void)y;
    tc__step *s = tc->recorder.region->root.next;
    while (s->next) s = s->next;
    const tc__program *p = (const tc__program *)s->program;
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *k = &p->launch.at[i];
        if (!k->keeps) continue;
        found.kept++, found.items = k->items, found.rows = k->group->shape.grain;
        found.all_columns = k->group->shape.wide == k->group->shape.cols;
    }
    tc_close(tc);
    free(w);
    return found;
}

TEST(weights_that_no_turn_changes_are_kept) {
    for (int i = 0; i < LOOPS; i++)
        CHECK_EQ(look(&loops[i], 2).kept, loops[i].kind != ROWS);
}

// ---- who has which rows ----

// By threads: the rows of an item that has all columns; 0 = items share columns.
TEST(threads_share_rows_where_all_panels_are_few) {
    static const struct {
        loop l;
        int threads, rows;
    } of[] = {
        {{STAYING, 32, 128}, 2, 16},  {{TURNED, 32, 128}, 2, 16},
        {{STAYING, 32, 128}, 3, 12},  {{STAYING, 33, 64}, 4, 12},
        {{STAYING, 128, 128}, 2, 32}, // not 48, of which one thread had two
        {{STAYING, 32, 128}, 9, 0},   // fewer than 4 rows a thread
        {{STAYING, 32, 640}, 2, 0},   // panels of 1.6 MB
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        seen k = look(&of[i].l, of[i].threads);
        CHECK_EQ(k.kept, 1);
        CHECK_EQ(k.all_columns, of[i].rows > 0);
        if (!of[i].rows) continue;
        CHECK_EQ(k.rows, of[i].rows);
        CHECK_EQ(k.items, (of[i].l.m - 1) / of[i].rows + 1);
    }
}
