// Unit tests of gen/device/chain.c, chain_list.c and gen/pass/rescore.c: which graphs of attention become products of
// products, and with which sizes; whose gradients compute scores again; lists of the template that are refused.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"
#include "tcompile_cuda.in.h"

#include "harness.h"

// ---- graphs of attention

enum { CONDITIONS = 2, OUTPUTS = 8, LONGEST = 24 };

// Which sizes are s0, of run time.
enum { SYMBOLIC_ROWS = 1, SYMBOLIC_COLUMNS = 2, SYMBOLIC = 3 };

// What else than o is a result.
enum {
    WITH_SCORES = 1,
    WITH_LOGITS = 2,
    WITH_SHARES = 4,
    WITH_SUMS = 8,
    WITH_COLUMN_SUMS = 16
};

typedef enum gradients {
    NO_GRADIENTS,
    GRADIENTS,
    FLIPPED_GRADIENTS // dk^T = q^T ds, dv^T = do^T p: scores are right operands
} gradients;

// column `op` row + shift, or row + shift `op` column.
typedef struct condition {
    const char *op; // NULL = there is none
    int shift, row_first;
    const char *dtype; // that both are cast to; NULL = they are not
} condition;

// 0 is what is usual: see attention_whole.
typedef struct attention {
    const char *dtype;                     // of operands; NULL = bf16
    int heads, rows, columns, size, value; // 0 = 8, 200, 200, 64, 64
    int flat;                              // no heads: matrices
    int symbolic;                          // SYMBOLIC_
    condition where[CONDITIONS];           // scores that count
    const char *both;                      //   both conditions; NULL = logical_and
    const char *least;                     //   the others are this; NULL = -inf
    const char *mask;                      // dtype of a tensor [rows, columns]; NULL = none
    int reciprocal;                        // shares are e * (1 / sum), not e / sum
    int guarded;                           // the maximum is finite, the sum at least 1
    int deep;          // the right operand of scores is stored [size, columns]
    int turned_values; // those are stored [value, columns]
    int dropped;       // shares are, by random numbers
    int with;          // WITH_
    gradients gradients;
} attention;

typedef struct text {
    char at[12000];
    size_t size;
    int nodes, rank;
    char scores[LONGEST], row[LONGEST], column[LONGEST], plane[LONGEST]; // dims
    char query[LONGEST], key[LONGEST], value[LONGEST], out[LONGEST];     //
    char turned_query[LONGEST], turned_key[LONGEST];
    char turned_value[LONGEST], turned_out[LONGEST], turned_scores[LONGEST];
    int output[OUTPUTS], outputs;
} text;

// Nodes of the forward pass.
typedef struct forward {
    int q, k, kt, v, x, scale, scores, p, shares; // x: of the exponential, less its maximum
    int e, f, o;
} forward;

static attention attention_whole(const attention *from) {
    attention a = *from;
    if (!a.dtype) a.dtype = "bf16";
    if (!a.heads) a.heads = 8;
    if (!a.rows) a.rows = 200;
    if (!a.columns) a.columns = 200;
    if (!a.size) a.size = 64;
    if (!a.value) a.value = 64;
    if (!a.both) a.both = "logical_and";
    if (!a.least) a.least = "-inf";
    return a;
}

// A node; gives its number.
TEST_PRINTF(4)
static int put(text *t, const char *dtype, const char *dims, const char *format, ...) {
    va_list args;
    size_t room = sizeof t->at;
    t->size += (size_t)snprintf(t->at + t->size, room - t->size, "%%%d = ", t->nodes);
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->at + t->size, room - t->size, format, args);
    va_end(args);
    t->size += (size_t)snprintf(t->at + t->size, room - t->size, "  %s[%s]\n", dtype, dims);
    return t->nodes++;
}

static int put_splat(text *t, const char *dtype, const char *dims, int rank,
                     const char *value) {
    int n = put(t, dtype, "", "const %s", value);
    n = put(t, dtype, rank == 2 ? "1,1" : "1,1,1", "reshape %%%d", n);
    return put(t, dtype, dims, "expand %%%d", n);
}

static int put_turned(text *t, const char *dtype, const char *dims, int n) {
    return put(t, dtype, dims, "permute %%%d order=%s", n, t->rank == 2 ? "1,0" : "0,2,1");
}

// [rows, columns] of every head.
static int put_lifted(text *t, const char *dtype, int n) {
    char one[LONGEST + 2];
    if (t->rank == 2) return n;
    snprintf(one, sizeof one, "1,%s", t->plane);
    n = put(t, dtype, one, "reshape %%%d", n);
    return put(t, dtype, t->scores, "expand %%%d", n);
}

static int is_half(const attention *a) { return strcmp(a->dtype, "f32") != 0; }

static int put_cast(text *t, const attention *a, const char *dtype, const char *dims,
                    int n) {
    return is_half(a) ? put(t, dtype, dims, "cast %%%d", n) : n;
}

static int put_condition(text *t, const condition *where) {
    char shift[16];
    int column = put(t, "i64", t->plane, "iota dim=1"),
        row = put(t, "i64", t->plane, "iota dim=0");
    snprintf(shift, sizeof shift, "%d", where->shift);
    if (where->shift)
        row = put(t, "i64", t->plane, "add %%%d %%%d", row,
                  put_splat(t, "i64", t->plane, 2, shift));
    if (where->dtype) {
        row = put(t, where->dtype, t->plane, "cast %%%d", row);
        column = put(t, where->dtype, t->plane, "cast %%%d", column);
    }
    return put(t, "bool", t->plane, "%s %%%d %%%d", where->op,
               where->row_first ? row : column, where->row_first ? column : row);
}

static int put_where(text *t, const attention *a, int mask, int x) {
    mask = put_lifted(t, "bool", mask);
    int least = put_splat(t, "f32", t->scores, t->rank, a->least);
    return put(t, "f32", t->scores, "where %%%d %%%d %%%d", mask, x, least);
}

static int put_masked(text *t, const attention *a, int x) {
    int mask = -1;
    for (int i = 0; i < CONDITIONS && a->where[i].op; i++) {
        int one = put_condition(t, &a->where[i]);
        mask = i ? put(t, "bool", t->plane, "%s %%%d %%%d", a->both, mask, one) : one;
    }
    if (mask >= 0) x = put_where(t, a, mask, x);
    if (!a->mask) return x;
    mask = put(t, a->mask, t->plane, "input x4");
    if (!strcmp(a->mask, "bool")) return put_where(t, a, mask, x);
    return put(t, "f32", t->scores, "add %%%d %%%d", x, put_lifted(t, a->mask, mask));
}

static int put_guarded(text *t, const attention *a, int n, const char *least) {
    if (!a->guarded) return n;
    return put(t, "f32", t->row, "maximum %%%d %%%d", n,
               put_splat(t, "f32", t->row, t->rank, least));
}

static int put_dropped(text *t, int p) {
    int drawn = put(t, "f32", t->scores, "random kind=0 draw=0");
    int kept = put(t, "bool", t->scores, "ge %%%d %%%d", drawn,
                   put_splat(t, "f32", t->scores, t->rank, "0.1"));
    return put(t, "f32", t->scores, "where %%%d %%%d %%%d", kept, p,
               put_splat(t, "f32", t->scores, t->rank, "0"));
}

static void put_output(text *t, int n) { t->output[t->outputs++] = n; }

static void put_softmax(text *t, const attention *a, forward *f) {
    int last = 1 << (t->rank - 1);
    int top = put(t, "f32", t->row, "amax %%%d dims=%d", f->x, last);
    top = put_guarded(t, a, top, "-3.4028234663852886e38");
    int spread = put(t, "f32", t->scores, "expand %%%d", top);
    int less = put(t, "f32", t->scores, "sub %%%d %%%d", f->x, spread);
    f->e = put(t, "f32", t->scores, "exp %%%d", less);
    int sum = put(t, "f32", t->row, "sum %%%d dims=%d", f->e, last);
    sum = put_guarded(t, a, sum, "1");
    if (a->reciprocal) sum = put(t, "f32", t->row, "reciprocal %%%d", sum);
    f->f = put(t, "f32", t->scores, "expand %%%d", sum);
    f->p =
        put(t, "f32", t->scores, "%s %%%d %%%d", a->reciprocal ? "mul" : "div", f->e, f->f);
    if (a->with & WITH_SUMS) put_output(t, top), put_output(t, sum);
    if (a->with & WITH_COLUMN_SUMS)
        put_output(t, put(t, "f32", t->column, "sum %%%d dims=%d", f->p, last / 2));
}

static void put_forward(text *t, const attention *a, forward *f) {
    f->q = put(t, a->dtype, t->query, "input x0");
    f->k = put(t, a->dtype, a->deep ? t->turned_key : t->key, "input x1");
    f->v = put(t, a->dtype, a->turned_values ? t->turned_value : t->value, "input x2");
    if (a->turned_values) f->v = put_turned(t, a->dtype, t->value, f->v);
    f->kt = a->deep ? f->k : put_turned(t, a->dtype, t->turned_key, f->k);
    f->scores = put(t, "f32", t->scores, "matmul %%%d %%%d", f->q, f->kt);
    f->scale = put_splat(t, "f32", t->scores, t->rank, "0.125");
    f->x = put(t, "f32", t->scores, "mul %%%d %%%d", f->scores, f->scale);
    f->x = put_masked(t, a, f->x);
    put_softmax(t, a, f);
    if (a->dropped) f->p = put_dropped(t, f->p);
    f->shares = put_cast(t, a, a->dtype, t->scores, f->p);
    f->o = put(t, a->dtype, t->out, "matmul %%%d %%%d", f->shares, f->v);
}

// The gradient of scores before their scale, of that of shares.
static int put_inner_gradient(text *t, const attention *a, const forward *f, int dp) {
    int last = 1 << (t->rank - 1);
    int all = put(t, "f32", t->scores, "mul %%%d %%%d", dp, a->reciprocal ? f->e : f->p);
    int sum = put(t, "f32", t->row, "sum %%%d dims=%d", all, last);
    if (!a->reciprocal) {
        sum = put(t, "f32", t->scores, "expand %%%d", sum);
        sum = put(t, "f32", t->scores, "sub %%%d %%%d", dp, sum);
        return put(t, "f32", t->scores, "mul %%%d %%%d", sum, f->p);
    }
    sum = put(t, "f32", t->scores, "expand %%%d", sum);
    sum = put(t, "f32", t->scores, "neg %%%d", sum);
    sum = put(t, "f32", t->scores, "mul %%%d %%%d", sum, f->f);
    sum = put(t, "f32", t->scores, "mul %%%d %%%d", sum, f->f);
    dp = put(t, "f32", t->scores, "mul %%%d %%%d", dp, f->f);
    sum = put(t, "f32", t->scores, "add %%%d %%%d", dp, sum);
    return put(t, "f32", t->scores, "mul %%%d %%%d", sum, f->e);
}

// scores^T x, [columns, ..]; or as (x^T scores), turned.
static void put_turned_product(text *t, const attention *a, int scores, int x,
                               const char *dims, const char *turned_x,
                               const char *turned_dims) {
    if (a->gradients == FLIPPED_GRADIENTS) {
        int xt = put_turned(t, a->dtype, turned_x, x);
        put_output(t, put(t, a->dtype, turned_dims, "matmul %%%d %%%d", xt, scores));
        return;
    }
    int st = put_turned(t, a->dtype, t->turned_scores, scores);
    put_output(t, put(t, a->dtype, dims, "matmul %%%d %%%d", st, x));
}

// Results are dv, dq, dk.
static void put_gradients(text *t, const attention *a, const forward *f) {
    int d = put(t, a->dtype, t->out, "input x3");
    int vt = put_turned(t, a->dtype, t->turned_value, f->v);
    int dp = put(t, a->dtype, t->scores, "matmul %%%d %%%d", d, vt);
    dp = put_cast(t, a, "f32", t->scores, dp);
    put_turned_product(t, a, f->shares, d, t->value, t->turned_out, t->turned_value);
    int ds = put_inner_gradient(t, a, f, dp);
    ds = put(t, "f32", t->scores, "mul %%%d %%%d", ds, f->scale);
    ds = put_cast(t, a, a->dtype, t->scores, ds);
    put_output(t, put(t, a->dtype, t->query, "matmul %%%d %%%d", ds, f->k));
    put_turned_product(t, a, ds, f->q, t->key, t->turned_query, t->turned_key);
}

// Dims "heads,a,b"; a number below 0 is s0.
static void dims_of(const attention *a, char *out, int rows, int columns) {
    char head[12], r[12], c[12];
    snprintf(head, sizeof head, "%d,", a->heads);
    snprintf(r, sizeof r, rows < 0 ? "s0" : "%d", rows);
    snprintf(c, sizeof c, columns < 0 ? "s0" : "%d", columns);
    snprintf(out, LONGEST, "%.4s%.8s,%.8s", a->flat ? "" : head, r, c);
}

static void text_of(text *t, const attention *from) {
    attention whole = attention_whole(from), *a = &whole;
    forward f;
    int rows = a->symbolic & SYMBOLIC_ROWS ? -1 : a->rows,
        columns = a->symbolic & SYMBOLIC_COLUMNS ? -1 : a->columns;
    memset(t, 0, sizeof *t);
    t->rank = a->flat ? 2 : 3;
    dims_of(a, t->scores, rows, columns), dims_of(a, t->turned_scores, columns, rows);
    dims_of(a, t->row, rows, 1), dims_of(a, t->column, 1, columns);
    dims_of(a, t->query, rows, a->size), dims_of(a, t->turned_query, a->size, rows);
    dims_of(a, t->key, columns, a->size), dims_of(a, t->turned_key, a->size, columns);
    dims_of(a, t->value, columns, a->value), dims_of(a, t->turned_value, a->value, columns);
    dims_of(a, t->out, rows, a->value), dims_of(a, t->turned_out, a->value, rows);
    snprintf(t->plane, LONGEST, "%s",
             t->scores + (a->flat ? 0 : strcspn(t->scores, ",") + 1));
    if (a->symbolic)
        t->size = (size_t)snprintf(t->at, sizeof t->at, "size s0 in 1..4096\n");
    put_forward(t, a, &f);
    put_output(t, f.o);
    if (a->with & WITH_SCORES) put_output(t, f.scores);
    if (a->with & WITH_LOGITS) put_output(t, f.x);
    if (a->with & WITH_SHARES) put_output(t, f.shares);
    if (a->gradients) put_gradients(t, a, &f);
    t->size += (size_t)snprintf(t->at + t->size, sizeof t->at - t->size, "return");
    for (int i = 0; i < t->outputs; i++)
        t->size += (size_t)snprintf(t->at + t->size, sizeof t->at - t->size, " %%%d",
                                    t->output[i]);
    t->size += (size_t)snprintf(t->at + t->size, sizeof t->at - t->size, "\n");
}

// ---- their kernels

typedef struct kit {
    tc_ctx *c;
    tc__ixpool ix;
    tc__graph from, g;
    tc__ids outputs;
    tc__schedule s;
    tc__group *list;
} kit;

// The kernels of a graph, for devices; rounds: results may have other bits.
static int kit_open(kit *t, const attention *a, int rounds) {
    tc_config config = tc_config_default();
    text *graph = (text *)malloc(sizeof *graph);
    memset(t, 0, sizeof *t);
    config.backend = "aot_eager", config.threads = 1;
    t->c = tc_open(&config);
    tc__ix_open(&t->ix, t->c);
    tc__graph_open(&t->from, t->c, &t->ix), tc__graph_open(&t->g, t->c, &t->ix);
    text_of(graph, a);
    int ok =
        tc__read_graph(t->c, &t->from, graph->at, &t->outputs) &&
        tc__verify(t->c, &t->from, TC__TENSOR) &&
        tc__passes_run(t->c, &t->from, &t->g, t->outputs.at, t->outputs.count, 0, rounds) &&
        tc__verify(t->c, &t->g, TC__TENSOR);
    uint8_t *output = (uint8_t *)calloc(t->g.node.count + 1, 1);
    for (size_t i = 0; ok && i < t->outputs.count; i++) output[t->outputs.at[i]] = 1;
    ok = ok && tc__schedule_run(&t->s, t->c, &t->g, output, NULL, TC__FUSE_LOADS) &&
         tc__schedule_join(&t->s, &tc__dialect_cuda);
    if (!ok) FAIL("%s\n%s", tc_error_text(t->c), graph->at);
    free(output), free(graph);
    return ok;
}

static void kit_close(kit *t) {
    tc__group_free(t->c, t->list);
    tc__schedule_close(&t->s);
    TC__VEC_FREE(t->c, t->outputs);
    tc__graph_close(&t->g), tc__graph_close(&t->from);
    tc__ix_close(&t->ix);
    tc_close(t->c);
}

static const tc__group *kit_last(const kit *t) {
    return t->s.kernel.at[t->s.kernel.count - 1];
}

// The list of a kernel, which the verifier accepts.
static int kit_lower(kit *t, size_t kernel) {
    tc__group_free(t->c, t->list);
    t->list = tc__lower_device(t->c, t->s.kernel.at[kernel]);
    int ok = t->list && tc__verify(t->c, &t->list->body, TC__LOOP) &&
             tc__verify_device(t->c, t->list);
    if (!ok) FAIL("%s", tc_error_text(t->c));
    return ok;
}

static tc__node *statement(const kit *t, tc__op op, int which) {
    for (size_t i = 0; i < t->list->body.node.count; i++)
        if (t->list->body.node.at[i]->op == (uint16_t)op && !which--)
            return t->list->body.node.at[i];
    FAIL("no such statement");
    exit(1);
}

// ---- which graphs are chains

#define CAUSAL                                                                             \
    {                                                                                      \
        { "le", 0, 0 }                                                                     \
    }
#define ALL INT64_MIN, INT64_MAX

typedef struct expected {
    int rows_high, held;
    int64_t depth, wide, low, up;
} expected;

typedef struct chain_case {
    const char *name;
    attention a;
    expected want;
} chain_case;

static const chain_case chains[] = {
    {"bf16", {.dtype = "bf16"}, {128, 1, 64, 64, ALL}},
    {"f16", {.dtype = "f16"}, {128, 1, 64, 64, ALL}},
    {"no heads", {.flat = 1}, {128, 1, 64, 64, ALL}},
    {"one head", {.heads = 1}, {128, 1, 64, 64, ALL}},
    {"rows of half a block", {.rows = 64}, {64, 1, 64, 64, ALL}},
    {"rows of half a block and one", {.rows = 65}, {128, 1, 64, 64, ALL}},
    {"few rows", {.rows = 17}, {64, 1, 64, 64, ALL}},
    {"columns that leave a rest", {.columns = 1001}, {128, 1, 64, 64, ALL}},
    {"few columns", {.columns = 16}, {128, 1, 64, 64, ALL}},
    {"rows at run time", {.symbolic = SYMBOLIC_ROWS}, {128, 1, 64, 64, ALL}},
    {"columns at run time", {.symbolic = SYMBOLIC_COLUMNS}, {128, 1, 64, 64, ALL}},
    {"sizes at run time", {.symbolic = SYMBOLIC}, {128, 1, 64, 64, ALL}},
    {"causal at run time",
     {.symbolic = SYMBOLIC, .where = CAUSAL},
     {128, 1, 64, 64, INT64_MIN, 0}},
    {"a window at run time",
     {.symbolic = SYMBOLIC, .where = {{"le", 0, 0}, {"gt", -32, 0}}},
     {128, 1, 64, 64, -31, 0}},
    {"causal rows at run time",
     {.symbolic = SYMBOLIC_ROWS, .where = CAUSAL},
     {128, 1, 64, 64, INT64_MIN, 0}},
    {"bool at run time", {.symbolic = SYMBOLIC, .mask = "bool"}, {128, 1, 64, 64, ALL}},
    {"one head of run time", {.symbolic = SYMBOLIC, .heads = 1}, {128, 1, 64, 64, ALL}},
    {"matrices of rows at run time",
     {.symbolic = SYMBOLIC_ROWS, .flat = 1},
     {128, 1, 64, 64, ALL}},
    {"matrices at run time",
     {.symbolic = SYMBOLIC, .flat = 1, .where = CAUSAL},
     {128, 1, 64, 64, INT64_MIN, 0}},
    {"8 of k", {.size = 8}, {128, 1, 16, 64, ALL}},
    {"40 of k", {.size = 40}, {128, 1, 64, 64, ALL}},
    {"128 of k", {.size = 128, .value = 128}, {64, 1, 128, 128, ALL}},
    {"136 of k", {.size = 136}, {128, 0, 192, 64, ALL}},
    {"256 of k", {.size = 256, .value = 256}, {64, 0, 256, 256, ALL}},
    {"24 values", {.value = 24}, {128, 1, 64, 32, ALL}},
    {"80 values", {.value = 80}, {64, 1, 64, 128, ALL}},
    {"values turned", {.turned_values = 1}, {128, 1, 64, 64, ALL}},
    {"causal", {.where = CAUSAL}, {128, 1, 64, 64, INT64_MIN, 0}},
    {"causal matrices", {.where = CAUSAL, .flat = 1}, {128, 1, 64, 64, INT64_MIN, 0}},
    {"a window", {.where = {{"le", 0, 0}, {"gt", -32, 0}}}, {128, 1, 64, 64, -31, 0}},
    {"a bool tensor", {.mask = "bool"}, {128, 1, 64, 64, ALL}},
    {"bool, causal", {.mask = "bool", .where = CAUSAL}, {128, 1, 64, 64, INT64_MIN, 0}},
    {"an f32 tensor", {.mask = "f32"}, {128, 1, 64, 64, ALL}},
    {"by reciprocals", {.reciprocal = 1}, {128, 1, 64, 64, ALL}},
    {"guarded", {.guarded = 1}, {128, 1, 64, 64, ALL}},
    {"as composed",
     {.reciprocal = 1, .guarded = 1, .where = CAUSAL},
     {128, 1, 64, 64, INT64_MIN, 0}},
    {"row values returned", {.with = WITH_SUMS}, {128, 1, 64, 64, ALL}},
    {"all of both",
     {.with = WITH_SUMS, .reciprocal = 1, .guarded = 1, .mask = "bool", .where = CAUSAL},
     {128, 1, 64, 64, INT64_MIN, 0}},
};

static void check_chain(const tc__chain *q, const chain_case *k) {
    const expected *w = &k->want;
    int ok = q->inner == 1 && q->softmax == 1 && q->parts == 3 &&
             q->divides == !k->a.reciprocal && q->rows_high == w->rows_high &&
             q->high == 4 && q->held == w->held && q->depth[0] == w->depth &&
             !q->depth[1] && q->wide == w->wide && q->band.low == w->low &&
             q->band.up == w->up;
    CHECK(ok || FAIL("%s: inner %d softmax %d divides %d rows %d high %d held %d depth "
                     "%lld %lld wide %lld band %lld %lld",
                     k->name, q->inner, q->softmax, q->divides, q->rows_high, q->high,
                     q->held, (long long)q->depth[0], (long long)q->depth[1],
                     (long long)q->wide, (long long)q->band.low, (long long)q->band.up));
}

TEST(attention_is_a_chain) {
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        kit t;
        tc__chain q;
        if (!CHECK(kit_open(&t, &chains[i].a, 0))) return;
        CHECK(t.s.kernel.count == 1 ||
              FAIL("%s: %zu kernels", chains[i].name, t.s.kernel.count));
        if (CHECK(tc__chain_of(kit_last(&t), &q) || FAIL("%s: no chain", chains[i].name)))
            check_chain(&q, &chains[i]);
        CHECK(kit_lower(&t, t.s.kernel.count - 1) || FAIL("%s", chains[i].name));
        const tc__node *n = statement(&t, TC_OP_TEMPLATE, 0);
        CHECK_EQ(n->attr[TC__TEMPLATE_NAME], TC__TEMPLATE_CHAIN);
        kit_close(&t);
    }
}

static const chain_case others[] = {
    {"f32", {.dtype = "f32"}, {0}},
    {"scores returned", {.with = WITH_SCORES}, {0}},
    {"logits returned", {.with = WITH_LOGITS, .where = CAUSAL}, {0}},
    {"shares returned", {.with = WITH_SHARES}, {0}},
    {"shares summed by columns", {.with = WITH_COLUMN_SUMS}, {0}},
    {"264 of k", {.size = 264}, {0}},
    {"264 values", {.value = 264}, {0}},
    {"k that is not of 8", {.size = 60}, {0}},
    {"values that are not of 8", {.value = 60}, {0}},
    {"keys stored by depth", {.deep = 1}, {0}},
    {"values turned, that are not of 8", {.turned_values = 1, .columns = 1001}, {0}},
    {"dropped shares", {.dropped = 1}, {0}},
    {"16 rows", {.rows = 16}, {0}},
    {"5 rows", {.rows = 5}, {0}},
    {"a row, values turned", {.rows = 1, .turned_values = 1}, {0}},
};

// ---- of few rows

typedef struct decode_case {
    const char *name;
    attention a;
    uint32_t cluster; // blocks of one, that the device has
    int few, lanes, slices, single, clustered;
} decode_case;

// 16 rows of 128 bytes, of k, are a step of 256 threads that load four keys each: 128 keys.
static const decode_case decodes[] = {
    {"a row", {.rows = 1}, 0, 1, 8, 2, 1, 0},
    {"4 rows", {.rows = 4}, 0, 4, 8, 2, 1, 0},
    {"3 rows, causal", {.rows = 3, .where = CAUSAL}, 0, 3, 8, 2, 1, 0},
    {"128 of k", {.rows = 1, .size = 128, .value = 128}, 0, 1, 16, 4, 1, 0},
    {"values of more", {.rows = 1, .size = 8, .value = 80}, 0, 1, 16, 4, 1, 0},
    {"256 of k", {.rows = 1, .size = 256}, 0, 1, 32, 7, 1, 0},
    {"a long cache", {.rows = 1, .columns = 65536}, 0, 1, 8, 64, 0, 0},
    {"many heads", {.rows = 1, .heads = 999, .columns = 4096}, 0, 1, 8, 1, 0, 0},
    {"clusters", {.rows = 1, .heads = 32, .columns = 1024}, 8, 1, 8, 8, 1, 1},
    {"too few heads for them", {.rows = 1, .columns = 8192}, 8, 1, 8, 64, 1, 0},
    {"clusters of two turns", {.rows = 1, .heads = 32, .columns = 2048}, 8, 1, 8, 8, 0, 1},
    {"a cache of run time", {.rows = 1, .symbolic = SYMBOLIC_COLUMNS}, 0, 1, 8, 16, 0, 0},
    {"row values returned", {.rows = 2, .with = WITH_SUMS}, 0, 2, 8, 2, 1, 0},
    {"a mask", {.rows = 2, .mask = "bool", .guarded = 1}, 0, 2, 8, 2, 1, 0},
};

TEST(attention_of_few_rows_reads_keys_once) {
    for (size_t i = 0; i < sizeof decodes / sizeof *decodes; i++) {
        const decode_case *k = &decodes[i];
        kit t;
        tc__chain q;
        if (!CHECK(kit_open(&t, &k->a, 0))) return;
        CHECK(t.s.kernel.count == 1 || FAIL("%s: %zu kernels", k->name, t.s.kernel.count));
        t.s.kernel.at[0]->target.cluster = k->cluster;
        CHECK(tc__chain_of(kit_last(&t), &q) || FAIL("%s: no chain", k->name));
        int ok = q.few == k->few && q.lanes == k->lanes && q.slices == k->slices &&
                 q.single == k->single && (q.cluster == q.slices) == k->clustered &&
                 (q.cluster != 0) == k->clustered;
        CHECK(ok || FAIL("%s: few %d lanes %d slices %d single %d cluster %d", k->name,
                         q.few, q.lanes, q.slices, q.single, q.cluster));
        CHECK(kit_lower(&t, 0) || FAIL("%s", k->name));
        const tc__node *n = statement(&t, TC_OP_TEMPLATE, 0);
        CHECK_EQ(n->attr[TC__TEMPLATE_NAME], TC__TEMPLATE_DECODE);
        CHECK_EQ(n->attr[TC__TEMPLATE_TICKETS] >= 0, k->slices > 1 && !k->clustered);
        kit_close(&t);
    }
}

TEST(other_attention_is_none) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        kit t;
        tc__chain q;
        if (!CHECK(kit_open(&t, &others[i].a, 0))) return;
        CHECK(t.s.kernel.count > 1 || FAIL("%s: one kernel", others[i].name));
        for (size_t k = 0; k < t.s.kernel.count; k++) {
            CHECK(!tc__chain_of(t.s.kernel.at[k], &q) ||
                  FAIL("%s: a chain", others[i].name));
            CHECK(kit_lower(&t, k) || FAIL("%s", others[i].name));
        }
        kit_close(&t);
    }
}

// Left tiles, and two stages of right ones and values: 2 * (128 * 64 + 2 * 64 * (64 + 64)).
TEST(a_chain_needs_room) {
    kit t;
    tc__chain q;
    attention usual = {0};
    REQUIRE(kit_open(&t, &usual, 0));
    tc__group *k = t.s.kernel.at[0];
    k->target.room = 49152;
    CHECK(tc__chain_of(k, &q));
    CHECK_EQ(q.bytes, 49152);
    CHECK_EQ(tc__ix_value(q.blocks), 8 * 2);
    k->target.room--;
    CHECK(!tc__chain_of(k, &q));
    kit_close(&t);
}

// ---- columns that count

// Of 100 rows and 300 columns.
static const chain_case bands[] = {
    {"all but", {.where = {{"le", 0, 0}}}, {0, 0, 0, 0, INT64_MIN, 0}},
    {"strict", {.where = {{"lt", 0, 0}}}, {0, 0, 0, 0, INT64_MIN, -1}},
    {"rows first", {.where = {{"ge", 0, 1}}}, {0, 0, 0, 0, INT64_MIN, 0}},
    {"rows first, strict", {.where = {{"gt", 5, 1}}}, {0, 0, 0, 0, INT64_MIN, 4}},
    {"the last rows", {.where = {{"le", 200, 0}}}, {0, 0, 0, 0, INT64_MIN, 200}},
    {"one column", {.where = {{"le", 298, 0}}}, {0, 0, 0, 0, INT64_MIN, 298}},
    {"no column", {.where = {{"le", 299, 0}}}, {0, 0, 0, 0, ALL}},
    {"no column, strict", {.where = {{"lt", 300, 0}}}, {0, 0, 0, 0, ALL}},
    {"behind", {.where = {{"ge", 0, 0}}}, {0, 0, 0, 0, 0, INT64_MAX}},
    {"behind, strict", {.where = {{"gt", 0, 0}}}, {0, 0, 0, 0, 1, INT64_MAX}},
    {"behind, rows first", {.where = {{"lt", 3, 1}}}, {0, 0, 0, 0, 4, INT64_MAX}},
    {"behind one column", {.where = {{"ge", -98, 0}}}, {0, 0, 0, 0, -98, INT64_MAX}},
    {"behind none", {.where = {{"ge", -99, 0}}}, {0, 0, 0, 0, ALL}},
    {"both",
     {.where = {{"le", 7, 0}, {"ge", -7, 0}}, .both = "bitwise_and"},
     {0, 0, 0, 0, -7, 7}},
    {"both of one side",
     {.where = {{"le", 7, 0}, {"le", 3, 0}}},
     {0, 0, 0, 0, INT64_MIN, 3}},
    {"the diagonal", {.where = {{"le", 0, 0}, {"ge", 0, 0}}}, {0, 0, 0, 0, 0, 0}},
    {"one or the other",
     {.where = {{"le", 0, 0}, {"ge", 9, 0}}, .both = "logical_or"},
     {0, 0, 0, 0, ALL}},
    {"the others are finite", {.where = CAUSAL, .least = "-1e30"}, {0, 0, 0, 0, ALL}},
    {"by numbers of 32 bits", {.where = {{"le", 0, 0, "i32"}}}, {0, 0, 0, 0, INT64_MIN, 0}},
    {"by numbers that wrap", {.where = {{"le", 0, 0, "u8"}}}, {0, 0, 0, 0, ALL}},
    {"never", {.where = {{"le", 0, 0}, {"ge", 5, 0}}}, {0, 0, 0, 0, 5, 0}},
    {"equal", {.where = {{"eq", 4, 0}}}, {0, 0, 0, 0, 4, 4}},
};

TEST(columns_that_count) {
    for (size_t i = 0; i < sizeof bands / sizeof *bands; i++)
        for (int heads = 0; heads <= 2; heads++) {
            kit t;
            tc__chain q;
            attention a = bands[i].a;
            a.heads = heads, a.flat = !heads, a.rows = 100, a.columns = 300;
            if (!CHECK(kit_open(&t, &a, 0))) return;
            if (CHECK(tc__chain_of(kit_last(&t), &q) ||
                      FAIL("%s: no chain", bands[i].name)))
                CHECK((q.band.low == bands[i].want.low && q.band.up == bands[i].want.up) ||
                      FAIL("%s: from %lld to %lld", bands[i].name, (long long)q.band.low,
                           (long long)q.band.up));
            kit_close(&t);
        }
}

// ---- scores that are computed again

// Marks of what node `id` is made of, a bit for each.
static uint32_t marks_of(const tc__graph *g, uint32_t id) {
    const tc__node *n = g->node.at[id];
    uint32_t marks = 0;
    if (n->op == TC_OP_AGAIN) marks |= (uint32_t)1 << (n->attr[0] & 31);
    for (uint32_t i = 0; i < n->n_in; i++) marks |= marks_of(g, n->in[i]);
    return marks;
}

static int count_again(const tc__graph *g) {
    int count = 0;
    for (size_t i = 0; i < g->node.count; i++) count += g->node.at[i]->op == TC_OP_AGAIN;
    return count;
}

// Kernels that are chains of `inner` products before the last, with a softmax or without; their lists are right.
static int count_chains(kit *t, int inner, int softmax) {
    int count = 0;
    for (size_t i = 0; i < t->s.kernel.count; i++) {
        tc__chain q;
        if (!tc__chain_of(t->s.kernel.at[i], &q)) continue;
        count += q.inner == inner && (q.softmax >= 0) == softmax;
        CHECK(kit_lower(t, i));
    }
    return count;
}

// Result i is [8, rows, columns].
static int has_dims(const kit *t, size_t i, int rows, int columns) {
    const tc__node *n = t->g.node.at[t->outputs.at[i]];
    return n->rank == 3 && tc__ix_equals(n->dims[0], 8) &&
           tc__ix_equals(n->dims[1], rows) && tc__ix_equals(n->dims[2], columns);
}

static const chain_case gradient_cases[] = {
    {"causal", {.where = CAUSAL}, {0}},
    {"f16", {.dtype = "f16"}, {0}},
    {"other sizes", {.rows = 104, .columns = 264, .size = 80, .value = 48}, {0}},
    {"a bool tensor", {.mask = "bool"}, {0}},
    {"an f32 tensor", {.mask = "f32"}, {0}},
    {"by reciprocals", {.reciprocal = 1}, {0}},
    {"as composed", {.reciprocal = 1, .guarded = 1, .where = CAUSAL}, {0}},
    {"guarded", {.guarded = 1}, {0}},
};

static void check_gradients(const chain_case *k, gradients gradients) {
    attention a = k->a;
    kit t;
    a.gradients = gradients;
    if (!CHECK(kit_open(&t, &a, 1))) return;
    a = attention_whole(&a);
    int flipped = gradients == FLIPPED_GRADIENTS;
    size_t kernels = flipped ? 7 : 5; // two results are turned
    int streamed = count_chains(&t, 1, 1), once = count_chains(&t, 1, 0),
        twice = count_chains(&t, 2, 0);
    CHECK((t.s.kernel.count == kernels && streamed == 1 && once == 1 && twice == 2) ||
          FAIL("%s%s: %zu kernels, %d, %d and %d chains", k->name,
               flipped ? ", flipped" : "", t.s.kernel.count, streamed, once, twice));
    REQUIRE(t.outputs.count == 4);
    CHECK(has_dims(&t, 0, a.rows, a.value) && has_dims(&t, 2, a.rows, a.size));
    CHECK(has_dims(&t, 1, flipped ? a.value : a.columns, flipped ? a.columns : a.value));
    CHECK(has_dims(&t, 3, flipped ? a.size : a.columns, flipped ? a.columns : a.size));
    uint32_t marks = 0;
    CHECK_EQ(marks_of(&t.g, t.outputs.at[0]), 0);
    for (size_t i = 1; i < 4; i++) {
        uint32_t own = marks_of(&t.g, t.outputs.at[i]);
        CHECK((own && !(own & (own - 1)) && !(own & marks)) ||
              FAIL("%s: marks %x of result %zu", k->name, own, i));
        marks |= own;
    }
    kit_close(&t);
}

TEST(gradients_compute_scores_again) {
    for (size_t i = 0; i < sizeof gradient_cases / sizeof *gradient_cases; i++)
        check_gradients(&gradient_cases[i], GRADIENTS);
}

TEST(scores_that_are_right_operands) {
    for (size_t i = 0; i < sizeof gradient_cases / sizeof *gradient_cases; i++)
        check_gradients(&gradient_cases[i], FLIPPED_GRADIENTS);
}

// Values stored [value, columns] are no right operand of a chain: scores that are computed again would be stored again.
TEST(scores_are_stored_where_no_chain_reads_them) {
    kit t;
    attention a = {.turned_values = 1, .gradients = GRADIENTS};
    REQUIRE(kit_open(&t, &a, 1));
    int chains = count_chains(&t, 1, 0) + count_chains(&t, 2, 0);
    CHECK(chains == 3 || !count_again(&t.g) ||
          FAIL("%d chains, %d nodes again, %zu kernels", chains, count_again(&t.g),
               t.s.kernel.count));
    kit_close(&t);
}

// Of o and dq columns count, of dv and dk rows.
static void check_bands(int reciprocal) {
    kit t;
    tc__chain q;
    int below = 0, above = 0;
    attention a = {.where = CAUSAL, .gradients = GRADIENTS, .reciprocal = reciprocal};
    REQUIRE(kit_open(&t, &a, 1));
    for (size_t i = 0; i < t.s.kernel.count; i++) {
        if (!tc__chain_of(t.s.kernel.at[i], &q)) continue;
        below += q.band.low == INT64_MIN && q.band.up == 0;
        above += q.band.low == 0 && q.band.up == INT64_MAX;
    }
    CHECK_EQ(below, 2);
    CHECK_EQ(above, 2);
    kit_close(&t);
}

TEST(bands_of_gradients_by_reciprocals) { check_bands(1); }
TEST(bands_of_gradients_that_are_divided) { check_bands(0); }

static const chain_case refusals[] = {
    {"forward alone", {.gradients = NO_GRADIENTS}, {0}},
    {"shares returned", {.with = WITH_SHARES}, {0}},
    {"scores returned", {.with = WITH_SCORES}, {0}},
    {"shares summed by columns", {.with = WITH_COLUMN_SUMS}, {0}},
    {"264 of k", {.size = 264}, {0}},
    {"264 values", {.value = 264}, {0}},
    {"k that is not of 8", {.size = 60}, {0}},
    {"few rows", {.rows = 63}, {0}},
    {"few columns", {.columns = 63}, {0}},
    {"f32", {.dtype = "f32"}, {0}},
    {"dropped shares", {.dropped = 1}, {0}},
    {"sizes at run time", {.symbolic = SYMBOLIC}, {0}},
};

TEST(scores_that_are_stored) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        kit t;
        attention a = refusals[i].a;
        a.gradients = i ? GRADIENTS : NO_GRADIENTS;
        if (!CHECK(kit_open(&t, &a, 1))) return;
        CHECK(!count_again(&t.g) || FAIL("%s: again", refusals[i].name));
        for (size_t k = 0; k < t.s.kernel.count; k++)
            CHECK(kit_lower(&t, k) || FAIL("%s", refusals[i].name));
        kit_close(&t);
    }
}

// Computed again they have other bits, which nobody has allowed here.
TEST(scores_are_stored_for_equal_bits) {
    kit t;
    attention a = {.gradients = GRADIENTS};
    REQUIRE(kit_open(&t, &a, 0));
    CHECK_EQ(count_again(&t.g), 0);
    kit_close(&t);
}

// ---- what is refused of lists

// The list of attention, or of the gradient with two products before the last.
static tc__node *list_open(kit *t, int inner) {
    attention a = {.where = CAUSAL, .gradients = inner > 1 ? GRADIENTS : NO_GRADIENTS};
    size_t at = 0;
    tc__chain q;
    if (!CHECK(kit_open(t, &a, 1))) exit(1);
    while (!tc__chain_of(t->s.kernel.at[at], &q) || q.inner != inner)
        if (++at == t->s.kernel.count) FAIL("no such chain"), exit(1);
    if (!CHECK(kit_lower(t, at))) exit(1);
    return statement(t, TC_OP_TEMPLATE, 0);
}

static tc__node *hole_of(const kit *t, tc__hole hole) {
    for (int i = 0;; i++) {
        tc__node *n = statement(t, TC_OP_HOLE, i);
        if (n->attr[TC__HOLE_HOLE] == (int64_t)hole) return n;
    }
}

static int64_t *number_of(tc__node *n, int which) {
    return &n->attr[TC__TEMPLATE_NUMBERS + which];
}

static void refused(kit *t, const char *why) {
    CHECK(!tc__verify_device(t->c, t->list));
    CHECK(strstr(tc_error_text(t->c), why) || FAIL("\"%s\"", tc_error_text(t->c)));
    kit_close(t);
}

TEST(holes_that_are_not_there) {
    static const struct {
        tc__hole hole;
        int inner;
    } holes[] = {{TC__HOLE_LEFT, 1},      {TC__HOLE_RIGHT, 1},     {TC__HOLE_VALUE, 1},
                 {TC__HOLE_SCORE, 1},     {TC__HOLE_SHARE, 1},     {TC__HOLE_RESULT, 1},
                 {TC__HOLE_LEFT_NEXT, 2}, {TC__HOLE_RIGHT_NEXT, 2}};
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        kit t;
        list_open(&t, holes[i].inner);
        hole_of(&t, holes[i].hole)->attr[TC__HOLE_HOLE] = TC__HOLE_AHEAD;
        refused(&t, "its holes are not those of chain");
    }
}

// The list of attention of few rows.
static tc__node *few_open(kit *t) {
    attention a = {.rows = 1, .where = CAUSAL, .columns = 1000};
    if (!CHECK(kit_open(t, &a, 1) && kit_lower(t, 0))) exit(1);
    return statement(t, TC_OP_TEMPLATE, 0);
}

TEST(few_rows_without_what_they_need) {
    static const tc__hole holes[] = {TC__HOLE_LEFT,  TC__HOLE_RIGHT, TC__HOLE_VALUE,
                                     TC__HOLE_SCORE, TC__HOLE_SHARE, TC__HOLE_RESULT};
    kit t;
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        few_open(&t);
        hole_of(&t, holes[i])->attr[TC__HOLE_HOLE] = TC__HOLE_AHEAD;
        refused(&t, "its holes are not those of decode");
    }
    few_open(&t)->attr[TC__TEMPLATE_TICKETS] = -1;
    refused(&t, "blocks cannot leave their sums");
    tc__node *n = few_open(&t);
    tc__ix *room = &t.list->buffer.at[n->attr[TC__TEMPLATE_SUMS]].numel;
    *room = tc__ix_sub(&t.ix, *room, tc__ix_const(1));
    refused(&t, "blocks cannot leave their sums");
    *number_of(few_open(&t), TC__DECODE_LANES) *= 2;
    refused(&t, "bytes of a block");
    *number_of(few_open(&t), TC__DECODE_CLUSTER) = 1;
    refused(&t, "bytes of a block");
    *number_of(few_open(&t), TC__DECODE_THREADS) = 128;
    refused(&t, "it is for 128 threads");
    *number_of(few_open(&t), TC__DECODE_SLICES) += 1;
    refused(&t, "its blocks are not those of the result");
}

TEST(holes_that_nobody_needs) {
    kit t;
    *number_of(list_open(&t, 1), TC__CHAIN_STREAMED) = 0;
    refused(&t, "its holes are not those of chain");
    *number_of(list_open(&t, 2), TC__CHAIN_NEXT) = 0;
    refused(&t, "its holes are not those of chain");
}

TEST(hole_that_is_there_twice) {
    kit t;
    list_open(&t, 1);
    hole_of(&t, TC__HOLE_SHARE)->attr[TC__HOLE_HOLE] = TC__HOLE_SCORE;
    refused(&t, "its holes are not those of chain");
}

TEST(numbers_of_another_template) {
    kit t;
    list_open(&t, 1)->attr[TC__TEMPLATE_NAME] = TC__TEMPLATE_TILES;
    refused(&t, "no such template");
}

TEST(template_without_room) {
    kit t;
    tc__node *n = list_open(&t, 1);
    tc__ix *numel = &t.list->buffer.at[n->attr[TC__TEMPLATE_SHARED]].numel;
    *numel = tc__ix_sub(&t.ix, *numel, tc__ix_const(1));
    refused(&t, "bytes of a block");
    *number_of(list_open(&t, 1), TC__CHAIN_DEPTH) += 64;
    refused(&t, "bytes of a block");
    *number_of(list_open(&t, 2), TC__CHAIN_NEXT) += 64;
    refused(&t, "bytes of a block");
}

TEST(template_for_other_threads) {
    kit t;
    *number_of(list_open(&t, 1), TC__CHAIN_THREADS) += 32;
    refused(&t, "it is for 160 threads");
}

TEST(blocks_that_are_not_those_of_the_result) {
    kit t;
    list_open(&t, 1)->attr[TC__TEMPLATE_ROWS] = tc__ix_const(400);
    CHECK(tc__verify_device(t.c, t.list)); // of a batch of 4
    statement(&t, TC_OP_TEMPLATE, 0)->attr[TC__TEMPLATE_ROWS] = tc__ix_const(300);
    refused(&t, "its blocks are not those of the result");
    list_open(&t, 1)->attr[TC__TEMPLATE_COLS] = tc__ix_const(64 * 16 + 1);
    refused(&t, "its blocks are not those of the result");
    *number_of(list_open(&t, 1), TC__CHAIN_BATCHES) = 0;
    refused(&t, "its blocks are not those of the result");
}

TEST(operands_that_are_computed) {
    kit t;
    list_open(&t, 1);
    tc__node *copy = statement(&t, TC_OP_COPY, 0);
    copy->op = TC_OP_CONST;
    refused(&t, "it gives an address of more than a copy");
}

// The score is stored where the result is.
TEST(scores_stored_to_memory) {
    kit t;
    list_open(&t, 1);
    uint32_t id = hole_of(&t, TC__HOLE_SCORE)->id;
    tc__node *score = NULL, *result = NULL;
    for (uint32_t i = id; i < t.list->body.node.count; i++) {
        tc__node *n = t.list->body.node.at[i];
        if (n->op != TC_OP_STORE) continue;
        if (!score) score = n;
        if (tc__is_memory(tc__buffer_of(t.list, n))) result = n;
    }
    REQUIRE(score && result);
    score->attr[TC__STORE_BUFFER] = result->attr[TC__STORE_BUFFER];
    CHECK(!tc__verify_device(t.c, t.list));
    kit_close(&t);
}
