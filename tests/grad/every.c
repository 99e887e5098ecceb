// Derivatives of every public op that has one, against slopes: what tc_vjp gives is compared with central
// differences of the op itself, in f64, and what tc_grad gives of that again with differences of tc_grad. Operands
// lie in memory in rows, in columns, and backwards with gaps; the three backends give the same bits; f32 is near f64.
// Where an op has no slope, what PyTorch documents is what is expected.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { MOST = 5, ELEMENTS = 64, RESULTS = 512 };
#define STEP 2e-6

// ---- operands ----
// An operand is a word: a kind, then sizes, "p3x4"; "s" for sizes is a scalar.
//     r [-2, 2), p [0.3, 2), u [-0.9, 0.9), z as r with some zeros, b bool, i5< indices below 5,
//     j5< the same, of which no two of a row or column are equal
typedef struct operand {
    char kind;
    int rank;
    int64_t dims[TC_MAX_RANK], n, limit;
    double low, high;
    double x[ELEMENTS];
    // where it lies
    tc_dtype dtype;
    int64_t strides[TC_MAX_RANK], first;
    union {
        double f64[4 * ELEMENTS];
        float f32[4 * ELEMENTS];
        int64_t i64[4 * ELEMENTS];
        uint8_t bytes[4 * ELEMENTS];
    } memory;
} operand;

typedef tc_tensor (*op_fn)(tc_ctx *tc, const tc_tensor *in);

typedef struct op_case {
    const char *name, *operands;
    op_fn call;
    double low, high; // of operands of kind r, where not both are 0
} op_case;

// What an op is asked with.
typedef struct question {
    const op_case *op;
    int n, n_out; // operands, elements of the result
    operand in[MOST];
    tc_dims shape;   // of the result
    tc_dtype result; //   and its dtype, where operands are f64
    double v[RESULTS];
    float v_f32[RESULTS];
    double u[MOST][ELEMENTS];
} question;

typedef struct answer {
    double g[MOST][ELEMENTS];
} answer;

static uint64_t random_state;
static double random_in(double low, double high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(random_state >> 11) * 0x1p-53);
}

static double random_of(const operand *o, int i) {
    static const char zeros[] = {1, 4, 6};
    for (size_t k = 0; k < sizeof zeros && o->kind == 'z'; k++)
        if (i == zeros[k]) return 0;
    int64_t columns = o->rank ? o->dims[o->rank - 1] : 1;
    if (o->kind == 'j') return (double)((i / columns + i % columns) % o->limit);
    if (o->kind == 'i') return floor(random_in(0, (double)o->limit));
    if (o->kind == 'b') return random_in(0, 1) < 0.6;
    return random_in(o->low, o->high);
}

// Reads one word; gives what is behind it.
static const char *operand_parse(operand *o, const char *s, const op_case *op) {
    memset(o, 0, sizeof *o);
    o->kind = *s++, o->n = 1;
    if (o->kind == 'i' || o->kind == 'j') o->limit = strtol(s, (char **)&s, 10), s++;
    o->low = o->kind == 'p' ? 0.3 : o->kind == 'u' ? -0.9 : -2;
    o->high = o->kind == 'u' ? 0.9 : 2;
    if (o->kind == 'r' && op->low != op->high) o->low = op->low, o->high = op->high;
    for (; *s && *s != ' '; s += *s == 'x' || *s == 's')
        if (*s != 's') o->n *= o->dims[o->rank++] = strtol(s, (char **)&s, 10);
    CHECK(o->n <= ELEMENTS);
    for (int i = 0; i < o->n; i++) o->x[i] = random_of(o, i);
    return s + (*s == ' ');
}

static int is_real(const operand *o) { return !strchr("ijb", o->kind); }

enum { ROWS, COLUMNS, GAPS, LAYOUTS };

static void operand_place(operand *o, int layout, tc_dtype real) {
    int64_t by = layout == GAPS ? 2 : 1;
    o->dtype = is_real(o) ? real : o->kind == 'b' ? TC_BOOL : TC_I64;
    o->first = 0;
    for (int i = 0; i < o->rank; i++) {
        int d = layout == COLUMNS ? i : o->rank - 1 - i;
        o->strides[d] = by, by *= o->dims[d] ? o->dims[d] : 1;
    }
    if (layout == GAPS && o->rank) {
        o->first = (o->dims[o->rank - 1] - 1) * 2;
        o->strides[o->rank - 1] = -2;
    }
    // What stands between the elements must not be read.
    for (int i = 0; i < 4 * ELEMENTS; i++) {
        if (o->dtype == TC_F64) o->memory.f64[i] = NAN;
        if (o->dtype == TC_F32) o->memory.f32[i] = NAN;
        if (o->dtype == TC_I64) o->memory.i64[i] = 1 << 20;
        if (o->dtype == TC_BOOL) o->memory.bytes[i] = 1;
    }
}

static void operand_put(operand *o) {
    for (int64_t i = 0; i < o->n; i++) {
        int64_t at = o->first, rest = i;
        for (int d = o->rank; d-- > 0;)
            at += rest % o->dims[d] * o->strides[d], rest /= o->dims[d];
        if (o->dtype == TC_F64) o->memory.f64[at] = o->x[i];
        if (o->dtype == TC_F32) o->memory.f32[at] = (float)o->x[i];
        if (o->dtype == TC_I64) o->memory.i64[at] = (int64_t)o->x[i];
        if (o->dtype == TC_BOOL) o->memory.bytes[at] = (uint8_t)o->x[i];
    }
}

static tc_tensor operand_tensor(tc_ctx *tc, operand *o) {
    char *p = (char *)&o->memory + o->first * (int64_t)tc_dtype_bytes(o->dtype);
    return tc_wrap_strided(tc, p, tc_dims_of(o->rank, o->dims), o->strides, o->dtype);
}

static void place_all(tc_ctx *tc, question *q, int layout, tc_dtype real, tc_tensor *t) {
    for (int k = 0; k < MOST; k++) t[k] = tc_null();
    for (int k = 0; k < q->n; k++) {
        operand_place(&q->in[k], layout, real);
        operand_put(&q->in[k]);
        t[k] = operand_tensor(tc, &q->in[k]);
    }
}

// ---- asking ----

// The elements of t as doubles; those of f64, f32.
static void elements(tc_tensor t, double *x, int most) {
    static float f32[RESULTS];
    int64_t n = tc_numel(t);
    if (n < 0 || n > most) {
        FAIL("%lld elements, not %d", (long long)n, most);
        return;
    }
    if (tc_dtype_of(t) == TC_F64) CHECK_EQ(tc_read(t, x, (size_t)n * sizeof *x), TC_OK);
    if (tc_dtype_of(t) != TC_F32) return;
    CHECK_EQ(tc_read(t, f32, (size_t)n * sizeof *f32), TC_OK);
    for (int64_t i = 0; i < n; i++) x[i] = (double)f32[i];
}

static tc_tensor weights(tc_ctx *tc, question *q, tc_dtype dtype) {
    if (dtype == TC_F32) return tc_wrap(tc, q->v_f32, q->shape, TC_F32);
    return tc_wrap(tc, q->v, q->shape, TC_F64);
}

static void failed(tc_ctx *tc, const question *q, const char *what) {
    if (tc_error(tc)) FAIL("%s, %s: %s", q->op->name, what, tc_error_text(tc));
    tc_error_clear(tc);
}

// Reads the question of an op: its operands, the sizes of its result, what that counts.
static int question_open(tc_ctx *tc, question *q, const op_case *op) {
    tc_tensor t[MOST];
    const char *s = op->operands;
    memset(q, 0, sizeof *q);
    q->op = op, random_state = 1;
    while (*s) s = operand_parse(&q->in[q->n++], s, op);
    tc_scope_begin(tc);
    place_all(tc, q, ROWS, TC_F64, t);
    tc_manual_seed(tc, 5);
    tc_tensor y = op->call(tc, t);
    q->shape = tc_shape(y), q->n_out = (int)tc_numel(y), q->result = tc_dtype_of(y);
    int ok = y.id && q->n_out <= RESULTS;
    if (!ok) FAIL("%s: %d elements: %s", op->name, q->n_out, tc_error_text(tc));
    for (int i = 0; i < q->n_out && ok; i++) {
        q->v_f32[i] = (float)random_in(0.5, 1.5);
        q->v[i] = (double)q->v_f32[i];
    }
    for (int k = 0; k < MOST; k++)
        for (int i = 0; i < ELEMENTS; i++) q->u[k][i] = random_in(0.5, 1.5);
    tc_scope_end(tc);
    return ok;
}

// Begins a region of the op's name and a word.
static void begin_of(tc_ctx *tc, const question *q, const char *what, int layout) {
    char name[80];
    snprintf(name, sizeof name, "%s %s %d", q->op->name, what, layout);
    tc_manual_seed(tc, 5);
    tc_trace_begin_at(tc, name, NULL, "test.c", 1);
}

// The real operands, packed; and what belongs to the i-th in order.
static int real_ones(const question *q, const tc_tensor *t, tc_tensor *wrt) {
    int n = 0;
    for (int k = 0; k < q->n; k++)
        if (is_real(&q->in[k])) wrt[n++] = t[k];
    return n;
}

static void read_all(const question *q, const tc_tensor *g, answer *a) {
    int n = 0;
    for (int k = 0; k < q->n; k++)
        if (is_real(&q->in[k])) elements(g[n++], a->g[k], ELEMENTS);
}

static int ask_vjp(tc_ctx *tc, question *q, int layout, tc_dtype real, answer *a) {
    tc_tensor t[MOST], wrt[MOST], g[MOST];
    memset(a, 0, sizeof *a);
    tc_scope_begin(tc);
    place_all(tc, q, layout, real, t);
    tc_tensor v = weights(tc, q, q->result == TC_F64 ? real : q->result);
    begin_of(tc, q, real == TC_F64 ? "vjp" : "vjp32", layout);
    int n = real_ones(q, t, wrt);
    tc_vjp(q->op->call(tc, t), v, wrt, n, g);
    int ok = tc_trace_end(tc) == TC_OK;
    if (ok) read_all(q, g, a);
    failed(tc, q, "vjp");
    tc_scope_end(tc);
    return ok;
}

// What the tensors of one region are, from the outside.
typedef struct second {
    tc_tensor t[MOST], wrt[MOST], u[MOST], v;
    int n;
} second;

static void second_open(tc_ctx *tc, question *q, second *s) {
    int n = 0;
    place_all(tc, q, ROWS, TC_F64, s->t);
    s->v = weights(tc, q, q->result);
    s->n = real_ones(q, s->t, s->wrt);
    for (int k = 0; k < q->n; k++)
        if (is_real(&q->in[k]))
            s->u[n++] =
                tc_wrap(tc, q->u[k], tc_dims_of(q->in[k].rank, q->in[k].dims), TC_F64);
}

// What sum(v * y^2) changes by with the operands, and what that, counted u times, does. The square is there
// for ops that are linear: their first derivative depends on nothing.
static int ask_second(tc_ctx *tc, question *q, const second *s, answer *g, answer *h) {
    tc_tensor d[MOST], dd[MOST], sum = tc_null();
    begin_of(tc, q, "second", 0);
    tc_tensor y = q->op->call(tc, s->t);
    tc_grad(tc_sum_all(tc_mul(s->v, tc_mul(y, y))), s->wrt, s->n, d);
    for (int k = 0; k < s->n; k++) {
        tc_tensor part = tc_sum_all(tc_mul(s->u[k], d[k]));
        sum = k ? tc_add(sum, part) : part;
    }
    tc_grad(sum, s->wrt, s->n, dd);
    int ok = tc_trace_end(tc) == TC_OK;
    if (ok) read_all(q, d, g), read_all(q, dd, h);
    failed(tc, q, "second");
    return ok;
}

// ---- comparing ----

static double largest(const double *x, int64_t n) {
    double most = 1;
    for (int64_t i = 0; i < n; i++)
        if (fabs(x[i]) > most) most = fabs(x[i]);
    return most;
}

static void near(const question *q, const answer *is, const answer *want, double tolerance,
                 const char *what) {
    for (int k = 0; k < q->n; k++) {
        double most = largest(want->g[k], q->in[k].n) * tolerance;
        for (int64_t i = 0; i < q->in[k].n; i++)
            if (!(fabs(is->g[k][i] - want->g[k][i]) <= most)) {
                FAIL("%s: %s, operand %d, element %d: %.9g, not %.9g", q->op->name, what, k,
                     (int)i, is->g[k][i], want->g[k][i]);
                break;
            }
    }
}

static void same(const question *q, const answer *is, const answer *want,
                 const char *what) {
    for (int k = 0; k < q->n; k++)
        for (int64_t i = 0; i < q->in[k].n; i++)
            if (memcmp(&is->g[k][i], &want->g[k][i], sizeof(double))) {
                FAIL("%s: %s, operand %d, element %d: %.17g and %.17g", q->op->name, what,
                     k, (int)i, want->g[k][i], is->g[k][i]);
                break;
            }
}

// Slopes of sum(v * y).
static void slopes(tc_ctx *tc, question *q, answer *want) {
    static double above[RESULTS], below[RESULTS];
    tc_tensor t[MOST];
    memset(want, 0, sizeof *want);
    tc_scope_begin(tc);
    place_all(tc, q, ROWS, TC_F64, t);
    for (int k = 0; k < q->n; k++)
        for (int64_t i = 0; i < q->in[k].n && is_real(&q->in[k]); i++) {
            double x = q->in[k].x[i];
            for (int side = 0; side < 2; side++) {
                q->in[k].x[i] = x + (side ? -STEP : STEP);
                operand_put(&q->in[k]);
                begin_of(tc, q, "value", 0);
                tc_tensor y = q->op->call(tc, t);
                CHECK_EQ(tc_trace_end(tc), TC_OK);
                elements(y, side ? below : above, RESULTS);
            }
            q->in[k].x[i] = x;
            operand_put(&q->in[k]);
            for (int j = 0; j < q->n_out; j++)
                want->g[k][i] += q->v[j] * (above[j] - below[j]) / (2 * STEP);
        }
    failed(tc, q, "value");
    tc_scope_end(tc);
}

// Slopes of what ask_second gives first, counted u times.
static int second_slopes(tc_ctx *tc, question *q, const second *s, answer *want) {
    static answer side[2], ignored;
    memset(want, 0, sizeof *want);
    for (int k = 0; k < q->n; k++)
        for (int64_t i = 0; i < q->in[k].n && is_real(&q->in[k]); i++) {
            double x = q->in[k].x[i];
            for (int b = 0; b < 2; b++) {
                q->in[k].x[i] = x + (b ? -STEP : STEP);
                operand_put(&q->in[k]);
                if (!ask_second(tc, q, s, &side[b], &ignored)) return 0;
            }
            q->in[k].x[i] = x;
            operand_put(&q->in[k]);
            for (int m = 0; m < q->n; m++)
                for (int64_t j = 0; j < q->in[m].n && is_real(&q->in[m]); j++)
                    want->g[k][i] +=
                        q->u[m][j] * (side[0].g[m][j] - side[1].g[m][j]) / (2 * STEP);
        }
    return 1;
}

// ---- one op ----

enum { EAGER, FUSED, COMPILED, BACKENDS };

typedef struct contexts {
    tc_ctx *tc[BACKENDS];
} contexts;

static const char *const backends[BACKENDS] = {"eager", "aot_eager", "cpu"};

static void check_layouts(const contexts *c, question *q, const answer *want,
                          int compiled) {
    static answer is[BACKENDS];
    static const char *const layouts[] = {"rows", "columns", "gaps"};
    for (int layout = 0; layout < LAYOUTS; layout++) {
        // An op's text is the same however its operands lie: each is compiled for columns or for rows, as which f32
        // and what is derived again are compiled, too. Each program is, twice: for what has a place of its own,
        // and for what has none.
        int count = layout == compiled ? BACKENDS : COMPILED;
        for (int b = 0; b < count; b++)
            if (!ask_vjp(c->tc[b], q, layout, TC_F64, &is[b])) return;
        near(q, &is[EAGER], want, 1e-6, layouts[layout]);
        for (int b = 1; b < count; b++) same(q, &is[b], &is[EAGER], backends[b]);
    }
}

static void check_f32(const contexts *c, question *q, const answer *want) {
    static answer is[BACKENDS];
    for (int b = 0; b < BACKENDS; b++) ask_vjp(c->tc[b], q, ROWS, TC_F32, &is[b]);
    near(q, &is[FUSED], want, 1e-4, "f32");
    for (int b = 0; b < BACKENDS; b++) same(q, &is[b], &is[FUSED], backends[b]);
}

static void check_second(const contexts *c, question *q) {
    static answer g, h[BACKENDS], want;
    second s;
    for (int b = 0; b < BACKENDS; b++) {
        tc_ctx *tc = c->tc[b];
        memset(&h[b], 0, sizeof h[b]);
        tc_scope_begin(tc);
        second_open(tc, q, &s);
        int ok = ask_second(tc, q, &s, &g, &h[b]);
        if (ok && b == FUSED && second_slopes(tc, q, &s, &want))
            near(q, &h[b], &want, 1e-5, "second");
        if (b) same(q, &h[b], &h[0], backends[b]);
        tc_scope_end(tc);
        if (!ok) return;
    }
}

// Whether no operand counts, so that there is nothing to derive again.
static int is_flat(const question *q, const answer *g) {
    for (int k = 0; k < q->n; k++)
        for (int64_t i = 0; i < q->in[k].n; i++)
            if (g->g[k][i] != 0) return 0;
    return 1;
}

// compiled: the layout that is compiled, ROWS or COLUMNS.
static void check_op(const contexts *c, const op_case *op, int compiled) {
    static question q;
    static answer want, first;
    int before = test_failures;
    if (!question_open(c->tc[FUSED], &q, op)) return;
    slopes(c->tc[FUSED], &q, &want);
    check_layouts(c, &q, &want, compiled);
    if (test_failures > before) return;
    ask_vjp(c->tc[FUSED], &q, ROWS, TC_F64, &first);
    check_f32(c, &q, &first);
    if (!is_flat(&q, &want)) check_second(c, &q);
}

static void check_ops(const op_case *op, size_t n) {
    contexts c;
    for (int b = 0; b < BACKENDS; b++) c.tc[b] = open_backend(backends[b]);
    for (size_t i = 0; i < n; i++) check_op(&c, &op[i], (int)(i % 2));
    for (int b = 0; b < BACKENDS; b++) tc_close(c.tc[b]);
}

// ---- a list of ops: OP(name, operands, expression of a b c d e) ----
#define OP_CALL(name, operands, ...)                                                       \
    static tc_tensor op_##name(tc_ctx *tc, const tc_tensor *in) {                          \
        const tc_tensor a = in[0], b = in[1], c = in[2], d = in[3], e = in[4];             \
        (void)tc, (void)a, (void)b, (void)c, (void)d, (void)e;                             \
        return __VA_ARGS__;                                                                \
    }
#define OP_ROW(name, operands, ...) {#name, operands, op_##name, 0, 0},
#define OPS(name, LIST)                                                                    \
    LIST(OP_CALL)                                                                          \
    static const op_case name##_ops[] = {LIST(OP_ROW)};                                    \
    TEST(name) { check_ops(name##_ops, sizeof name##_ops / sizeof *name##_ops); }

// ---- element-wise ops: the table ----
#define MAKE_UNARY(name)   OP_CALL(name, "", tc_##name(a))
#define MAKE_BINARY(name)  OP_CALL(name, "", tc_##name(a, b))
#define MAKE_TERNARY(name) OP_CALL(name, "", tc_##name(a, b, c))
#define MAKE_CAST(name)
#define MAKE_LAYOUT(name)
#define MAKE_SOURCE(name)
#define MAKE_MOVE(name)
#define MAKE_JOIN(name)
#define MAKE_GATHER(name)
#define MAKE_REDUCE(name)
#define MAKE_CONTRACT(name)
#define MAKE_KERNEL(name)
#define MAKE_EFFECT(name)
#define MAKE_DERIVE(name)
#define MAKE_LOOP(name)
#define MAKE_OPAQUE(name)
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, range, doc)     \
    MAKE_##kind(name)
#include "tables/ops.def"
#undef OP

typedef struct row {
    const char *name, *range, *dtype;
    op_fn call;
    int arity;
} row;
#define ROW_UNARY(name)    op_##name, 1
#define ROW_BINARY(name)   op_##name, 2
#define ROW_TERNARY(name)  op_##name, 3
#define ROW_CAST(name)     NULL, 0
#define ROW_LAYOUT(name)   NULL, 0
#define ROW_SOURCE(name)   NULL, 0
#define ROW_MOVE(name)     NULL, 0
#define ROW_JOIN(name)     NULL, 0
#define ROW_GATHER(name)   NULL, 0
#define ROW_REDUCE(name)   NULL, 0
#define ROW_CONTRACT(name) NULL, 0
#define ROW_KERNEL(name)   NULL, 0
#define ROW_EFFECT(name)   NULL, 0
#define ROW_DERIVE(name)   NULL, 0
#define ROW_LOOP(name)     NULL, 0
#define ROW_OPAQUE(name)   NULL, 0
static const row rows[] = {
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, range, doc)     \
    {#name, #range, #dtype, ROW_##kind(name)},
#include "tables/ops.def"
#undef OP
};

// Whether the result is of floats where the operands are.
static int has_slope(const row *r) {
    static const char *const none[] = {"DTYPE(logic)", "DTYPE(bits)", "DTYPE(shift)",
                                       "DTYPE(compare)"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!strcmp(r->dtype, none[i])) return 0;
    return r->call != NULL;
}

// Those of rows begin, begin + step...
static void check_rows(size_t begin, size_t step) {
    static const char *const operands[] = {"", "r3x4", "r3x4 r3x4", "r3x4 r3x4 r3x4"};
    static const char *const broadcast[] = {"", "rs", "r3x1 r2x1x4", "rs r3x1 r1x4"};
    op_case list[2 * sizeof rows / sizeof *rows];
    size_t n = 0;
    for (size_t i = begin; i < sizeof rows / sizeof *rows; i += step) {
        double low, high, ulp;
        if (!has_slope(&rows[i])) continue;
        REQUIRE(sscanf(rows[i].range, "TEST(%lf, %lf, %lf)", &low, &high, &ulp) == 3);
        double edge = (high - low) / 32; // slopes are steep where a domain ends
        for (int k = 0; k < 2; k++) {
            op_case *op = &list[n++];
            int where = !strcmp(rows[i].dtype, "DTYPE(where)");
            op->name = rows[i].name, op->call = rows[i].call;
            op->low = low + edge, op->high = high - edge;
            op->operands = (k ? broadcast : operands)[rows[i].arity];
            if (where) op->operands = k ? "b3x1 r1x4 rs" : "b3x4 r3x4 r3x4";
        }
    }
    CHECK(n > 10);
    check_ops(list, n);
}

TEST(elementwise_0) { check_rows(0, 3); }
TEST(elementwise_1) { check_rows(1, 3); }
TEST(elementwise_2) { check_rows(2, 3); }

#define SCALARS(OP)                                                                        \
    OP(add_s, "r3x4", tc_add_s(a, 0.7))                                                    \
    OP(sub_s, "r3x4", tc_sub_s(a, 0.7))                                                    \
    OP(mul_s, "r3x4", tc_mul_s(a, 0.7))                                                    \
    OP(div_s, "r3x4", tc_div_s(a, 0.7))                                                    \
    OP(remainder_s, "r3x4", tc_remainder_s(a, 0.7))                                        \
    OP(fmod_s, "r3x4", tc_fmod_s(a, 0.7))                                                  \
    OP(floor_divide_s, "r3x4", tc_floor_divide_s(a, 0.7))                                  \
    OP(pow_s, "p3x4", tc_pow_s(a, 2.7))                                                    \
    OP(pow_s_2, "r3x4", tc_pow_s(a, 2))                                                    \
    OP(pow_s_3, "r3x4", tc_pow_s(a, 3))                                                    \
    OP(pow_s_5, "r3x4", tc_pow_s(a, 5))                                                    \
    OP(pow_s_half, "p3x4", tc_pow_s(a, 0.5))                                               \
    OP(pow_s_back, "p3x4", tc_pow_s(a, -1))                                                \
    OP(pow_s_back_2, "p3x4", tc_pow_s(a, -2))                                              \
    OP(maximum_s, "r3x4", tc_maximum_s(a, 0.3))                                            \
    OP(minimum_s, "r3x4", tc_minimum_s(a, 0.3))                                            \
    OP(rsub_s, "r3x4", tc_rsub_s(a, 0.7))                                                  \
    OP(rdiv_s, "p3x4", tc_rdiv_s(a, 0.7))                                                  \
    OP(rpow_s, "r3x4", tc_rpow_s(a, 1.7))                                                  \
    OP(clamp, "r4x4", tc_clamp(a, -1, 1))                                                  \
    OP(clamp_min, "r3x4", tc_clamp_min(a, 0.2))                                            \
    OP(clamp_max, "r3x4", tc_clamp_max(a, 0.2))                                            \
    OP(masked_fill, "r3x4 b4", tc_masked_fill(a, b, 3))                                    \
    OP(where_compare, "r3x4 r3x4", tc_where(tc_gt(a, b), tc_mul(a, a), b))                 \
    OP(times_scalar, "r3x4", tc_mul(a, tc_scalar(tc, 1.3, TC_F64)))                        \
    OP(of_one, "rs r1", tc_mul(tc_exp(a), b))                                              \
    OP(twice_the_same, "r3x4", tc_mul(a, a))                                               \
    OP(many_uses, "r3x4 r3x1", tc_add(tc_mul(a, b), tc_mul(tc_add(a, b), tc_sin(a))))
OPS(scalars, SCALARS)

// ---- movement ----
static tc_tensor split_of(tc_tensor a, int chunks) {
    tc_tensor p[4];
    int n = chunks ? tc_chunk(a, 3, 1, p, 4) : tc_split(a, 2, 1, p, 4);
    tc_tensor y = tc_mul(p[0], p[1]);
    return n == 3 ? tc_add(y, p[2]) : tc_null();
}

static tc_tensor cat_of(tc_tensor a, tc_tensor b, tc_tensor c, int dim, int stack) {
    tc_tensor list[3];
    list[0] = a, list[1] = b, list[2] = c;
    return stack ? tc_stack(list, 3, dim) : tc_cat(list, 3, dim);
}

static tc_tensor middle_written(tc_tensor a, tc_tensor b) {
    tc_tensor y = tc_clone(a);
    tc_copy_(tc_slice(y, 1, 1, 3, 1), tc_square(b));
    tc_mul_(tc_t(y), tc_sin(tc_t(y)));
    tc_add_(tc_select(y, 0, 1), tc_select(y, 0, 0));
    return y;
}

#define MOVEMENT(OP)                                                                       \
    OP(reshape, "r3x4", tc_reshape(a, TC_DIMS(2, -1)))                                     \
    OP(flatten, "r2x3x2", tc_flatten(a, 0, 1))                                             \
    OP(squeeze, "r3x1x4", tc_squeeze(a, 1))                                                \
    OP(squeeze_all, "r1x3x1", tc_squeeze_all(a))                                           \
    OP(unsqueeze, "r3x4", tc_unsqueeze(a, 1))                                              \
    OP(permute, "r2x3x2", tc_permute(a, TC_DIMS(2, 0, 1)))                                 \
    OP(transpose, "r2x3x2", tc_transpose(a, 0, 2))                                         \
    OP(t, "r3x4", tc_t(a))                                                                 \
    OP(movedim, "r2x3x2", tc_movedim(a, 0, 2))                                             \
    OP(expand, "r3x1", tc_expand(a, TC_DIMS(2, 3, 4)))                                     \
    OP(broadcast_to, "rs", tc_broadcast_to(a, TC_DIMS(3, 2)))                              \
    OP(slice, "r3x7", tc_slice(a, 1, 1, 6, 1))                                             \
    OP(slice_step, "r3x7", tc_slice(a, 1, 1, TC_END, 2))                                   \
    OP(slice_back, "r3x7", tc_slice(a, 1, 5, TC_END, -2))                                  \
    OP(slice_flip, "r7x3", tc_slice(a, 0, -1, TC_END, -1))                                 \
    OP(select, "r3x4", tc_select(a, 1, -2))                                                \
    OP(narrow, "r3x4", tc_narrow(a, 1, 1, 2))                                              \
    OP(flip, "r3x4", tc_flip(a, TC_DIMS(0, 1)))                                            \
    OP(roll, "r3x4", tc_roll(a, 3, 1))                                                     \
    OP(pad, "r3x4", tc_pad(a, TC_DIMS(1, 2), TC_DIMS(0, 1), 0.5))                          \
    OP(pad_cut, "r3x4", tc_pad(a, TC_DIMS(0, -1), TC_DIMS(-1, 2), 0.5))                    \
    OP(pad_reflect, "r3x4", tc_pad_with(a, TC_DIMS(1, 3), TC_DIMS(2, 2), TC_PAD_REFLECT))  \
    OP(pad_replicate, "r3x4",                                                              \
       tc_pad_with(a, TC_DIMS(1, 3), TC_DIMS(2, 2), TC_PAD_REPLICATE))                     \
    OP(pad_circular, "r3x4",                                                               \
       tc_pad_with(a, TC_DIMS(1, 3), TC_DIMS(2, 2), TC_PAD_CIRCULAR))                      \
    OP(cat, "r3x4 r3x1 r3x2", cat_of(a, b, c, 1, 0))                                       \
    OP(cat_same, "r3x4 r3x1", cat_of(a, b, a, 1, 0))                                       \
    OP(stack, "r2x3 r2x3 r2x3", cat_of(a, b, c, 1, 1))                                     \
    OP(split, "r3x6", split_of(a, 0))                                                      \
    OP(chunk, "r3x6", split_of(a, 1))                                                      \
    OP(unfold, "r2x8", tc_unfold(a, 1, 3, 2))                                              \
    OP(unfold_overlap, "r8x2", tc_unfold(a, 0, 4, 1))                                      \
    OP(unfold_apart, "r2x9", tc_unfold(a, 1, 2, 4))                                        \
    OP(tile, "r2x3", tc_tile(a, TC_DIMS(2, 1, 3)))                                         \
    OP(repeat_interleave, "r2x3", tc_repeat_interleave(a, 3, 1))                           \
    OP(contiguous, "r3x4", tc_mul(tc_contiguous(tc_t(a)), tc_t(a)))                        \
    OP(clone, "r3x4", tc_clone(a))                                                         \
    OP(tril, "r4x4", tc_tril(a, 1))                                                        \
    OP(triu, "r2x3x4", tc_triu(a, -1))                                                     \
    OP(of_views, "r3x4", tc_mul(tc_slice(a, 1, 0, 3, 1), tc_slice(tc_exp(a), 1, 1, 4, 1))) \
    OP(in_place, "r3x4 r3x2", middle_written(a, b))
OPS(movement, MOVEMENT)

// ---- indexing ----
static tc_tensor sorted(tc_tensor a, int dim, int descending, int64_t k) {
    tc_tensor values = tc_null();
    if (k)
        tc_topk(a, k, dim, descending, &values, NULL);
    else
        tc_sort(a, dim, descending, &values, NULL);
    return values;
}

#define INDEXING(OP)                                                                       \
    OP(take, "r3x4 i4<2x3", tc_take(a, b, 1))                                              \
    OP(take_rows, "r4x3 i4<6", tc_take(a, b, 0))                                           \
    OP(index_select, "r2x4x2 i4<5", tc_index_select(a, 1, b))                              \
    OP(embedding, "r5x3 i5<2x4", tc_embedding(a, b))                                       \
    OP(embedding_wide, "r3x16 i3<2x4", tc_embedding(a, b))                                 \
    OP(embedding_tied, "r3x16 i3<4", tc_matmul(tc_embedding(a, b), tc_transpose(a, 0, 1))) \
    OP(gather, "r3x4 i4<3x6", tc_gather(a, 1, b))                                          \
    OP(gather_rows, "r3x4 i3<2x3", tc_gather(a, 0, b))                                     \
    OP(scatter, "r3x4 j4<3x3 r3x3", tc_scatter(a, 1, b, c))                                \
    OP(scatter_rows, "r3x4 j3<2x4 r3x4", tc_scatter(a, 0, b, c))                           \
    OP(scatter_again, "r3x4 i4<3x6 r3x6", tc_scatter(a, 1, b, c))                          \
    OP(scatter_rows_again, "r3x4 i3<5x3 r5x4", tc_scatter(a, 0, b, c))                     \
    OP(scatter_add, "r3x4 i4<3x6 r3x6", tc_scatter_add(a, 1, b, c))                        \
    OP(scatter_add_rows, "r3x4 i3<5x3 r5x4", tc_scatter_add(a, 0, b, c))                   \
    OP(index_add, "r3x4 i4<6 r3x6", tc_index_add(a, 1, b, c))                              \
    OP(index_add_rows, "r3x4 i3<5 r5x4", tc_index_add(a, 0, b, c))                         \
    OP(sort, "r3x5", sorted(a, 1, 0, 0))                                                   \
    OP(sort_down, "r5x3", sorted(a, 0, 1, 0))                                              \
    OP(topk, "r3x5", sorted(a, 1, 1, 2))                                                   \
    OP(argsort_gather, "r3x5 r3x5", tc_add(tc_gather(a, 1, tc_argsort(b, 1, 0)), b))
OPS(indexing, INDEXING)

// ---- reductions, scans ----
#define REDUCTIONS(OP)                                                                     \
    OP(sum, "r3x4", tc_sum(a, 1))                                                          \
    OP(sum_dims, "r2x3x2", tc_sum_dims(a, TC_DIMS(0, 2), TC_KEEPDIM))                      \
    OP(sum_all, "r3x4", tc_sum_all(a))                                                     \
    OP(prod, "r3x4", tc_prod(a, 1))                                                        \
    OP(prod_zeros, "z3x4", tc_prod(a, 1))                                                  \
    OP(prod_rows, "z4x3", tc_prod(a, 0))                                                   \
    OP(prod_dims, "z2x3x2", tc_prod_dims(a, TC_DIMS(0, 2), 0))                             \
    OP(prod_all, "r3x4", tc_prod_all(a))                                                   \
    OP(mean, "r3x4", tc_mean(a, 0))                                                        \
    OP(mean_dims, "r2x3x2", tc_mean_dims(a, TC_DIMS(0, 1), 0))                             \
    OP(mean_all, "r3x4", tc_mean_all(a))                                                   \
    OP(amax, "r3x4", tc_amax(a, 1))                                                        \
    OP(amax_dims, "r2x3x2", tc_amax_dims(a, TC_DIMS(0, 2), TC_KEEPDIM))                    \
    OP(amax_all, "r3x4", tc_amax_all(a))                                                   \
    OP(amin, "r3x4", tc_amin(a, 0))                                                        \
    OP(amin_dims, "r2x3x2", tc_amin_dims(a, TC_DIMS(1, 2), 0))                             \
    OP(amin_all, "r3x4", tc_amin_all(a))                                                   \
    OP(logsumexp, "r3x4", tc_logsumexp(a, 1))                                              \
    OP(logsumexp_dims, "r2x3x2", tc_logsumexp_dims(a, TC_DIMS(0, 2), 0))                   \
    OP(logsumexp_all, "r3x4", tc_logsumexp_all(a))                                         \
    OP(var, "r3x4", tc_var(a, 1, 1))                                                       \
    OP(var_dims, "r2x3x2", tc_var_dims(a, TC_DIMS(0, 2), 0, TC_KEEPDIM))                   \
    OP(var_all, "r3x4", tc_var_all(a, 1))                                                  \
    OP(std, "r3x4", tc_std(a, 0, 1))                                                       \
    OP(std_dims, "r2x3x2", tc_std_dims(a, TC_DIMS(0, 2), 0, 0))                            \
    OP(std_all, "r3x4", tc_std_all(a, 1))                                                  \
    OP(norm, "r3x4", tc_norm(a, 1, 2))                                                     \
    OP(norm_1, "r3x4", tc_norm(a, 1, 1))                                                   \
    OP(norm_3, "r3x4", tc_norm(a, 0, 3))                                                   \
    OP(norm_largest, "r3x4", tc_norm(a, 0, (double)INFINITY))                              \
    OP(norm_smallest, "r3x4", tc_norm(a, 0, -(double)INFINITY))                            \
    OP(norm_dims, "r2x3x2", tc_norm_dims(a, TC_DIMS(0, 2), 2, TC_KEEPDIM))                 \
    OP(norm_all, "r3x4", tc_norm_all(a, 2))                                                \
    OP(cumsum, "r3x4", tc_cumsum(a, 1))                                                    \
    OP(cumsum_rows, "r4x3", tc_cumsum(a, 0))                                               \
    OP(cumprod, "r3x4", tc_cumprod(a, 1))                                                  \
    OP(cumprod_rows, "p4x3", tc_cumprod(a, 0))                                             \
    OP(cumprod_zeros, "z3x4", tc_cumprod(a, 1))                                            \
    OP(cumprod_zeros_rows, "z4x3", tc_cumprod(a, 0))                                       \
    OP(sum_of_scalar, "rs", tc_sum(tc_exp(a), 0))
OPS(reductions, REDUCTIONS)

// ---- products ----
#define PRODUCTS(OP)                                                                       \
    OP(matmul, "r3x4 r4x2", tc_matmul(a, b))                                               \
    OP(matmul_same, "r4x4", tc_matmul(a, a))                                               \
    OP(matmul_batch, "r2x3x2 r2x2x3", tc_matmul(a, b))                                     \
    OP(matmul_broadcast, "r2x1x3x2 r2x2x2", tc_matmul(a, b))                               \
    OP(matmul_left_row, "r3 r2x3x2", tc_matmul(a, b))                                      \
    OP(matmul_right_column, "r2x3x2 r2", tc_matmul(a, b))                                  \
    OP(matmul_vectors, "r5 r5", tc_matmul(a, b))                                           \
    OP(matmul_turned, "r4x3 r2x4", tc_matmul(tc_t(a), tc_t(b)))                            \
    OP(linear, "r2x3x4 r5x4 r5", tc_linear(a, b, c))                                       \
    OP(linear_plain, "r4 r5x4", tc_linear(a, b, tc_null()))                                \
    OP(addmm, "r3x2 r3x4 r4x2", tc_addmm(a, b, c, 0.7, 1.3))                               \
    OP(addmm_row, "r2 r3x4 r4x2", tc_addmm(a, b, c, 1, 1))                                 \
    OP(bmm, "r2x3x2 r2x2x3", tc_bmm(a, b))                                                 \
    OP(dot, "r6 r6", tc_dot(a, b))                                                         \
    OP(outer, "r3 r4", tc_outer(a, b))                                                     \
    OP(mlp, "r2x4 r4x3 r3x4", tc_matmul(tc_gelu(tc_matmul(a, b)), c))
OPS(products, PRODUCTS)

// ---- convolutions, pools ----
static tc_tensor conv_with(tc_tensor x, tc_tensor weight, tc_tensor bias) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    o.stride[0] = 2, o.padding[1] = 1, o.dilation[1] = 2;
    return tc_conv2d_with(x, weight, bias, &o);
}

static tc_tensor spread_with(tc_tensor x, tc_tensor weight, tc_tensor bias) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    o.stride[0] = 3, o.stride[1] = 2, o.dilation[1] = 3, o.padding[1] = 1;
    o.output_padding[0] = 2;
    return tc_conv_transpose2d_with(x, weight, bias, &o);
}

#define WINDOWS(OP)                                                                        \
    OP(conv1d, "r1x2x7 r3x2x3 r3", tc_conv1d(a, b, c, 1, 0, 1, 1))                         \
    OP(conv1d_stride, "r2x2x7 r2x2x3 r2", tc_conv1d(a, b, c, 2, 1, 1, 1))                  \
    OP(conv1d_dilation, "r2x8 r2x2x3", tc_conv1d(a, b, tc_null(), 1, 2, 2, 1))             \
    OP(conv1d_groups, "r1x4x6 r4x2x3 r4", tc_conv1d(a, b, c, 1, 1, 1, 2))                  \
    OP(conv2d, "r1x2x4x4 r2x2x3x3 r2", tc_conv2d(a, b, c, 1, 0, 1, 1))                     \
    OP(conv2d_padding, "r2x1x3x4 r2x1x3x3", tc_conv2d(a, b, tc_null(), 1, 1, 1, 1))        \
    OP(conv2d_stride, "r1x2x5x4 r2x2x2x2 r2", tc_conv2d(a, b, c, 2, 1, 1, 1))              \
    OP(conv2d_rest, "r1x1x7x8 r3x1x2x3", tc_conv2d(a, b, tc_null(), 3, 1, 1, 1))           \
    OP(conv2d_stride_groups, "r1x4x3x5 r4x2x2x3 r4", tc_conv2d(a, b, c, 2, 1, 1, 2))       \
    OP(conv2d_dilation, "r1x1x6x6 r2x1x2x3 r2", tc_conv2d(a, b, c, 1, 1, 2, 1))            \
    OP(conv2d_groups, "r1x4x3x3 r4x2x2x2 r4", tc_conv2d(a, b, c, 1, 1, 1, 2))              \
    OP(conv2d_depthwise, "r1x3x4x4 r3x1x3x3", tc_conv2d(a, b, tc_null(), 1, 1, 1, 3))      \
    OP(conv2d_with, "r1x2x5x5 r2x2x2x2 r2", conv_with(a, b, c))                            \
    OP(conv3d, "r1x2x3x2x3 r2x2x2x2x2 r2", tc_conv3d(a, b, c, 1, 1, 1, 1))                 \
    OP(conv3d_groups, "r1x2x2x3x3 r2x1x2x1x2", tc_conv3d(a, b, tc_null(), 2, 1, 1, 2))     \
    OP(conv_transpose1d, "r1x2x5 r2x3x4 r3", tc_conv_transpose1d(a, b, c, 3, 1, 1, 1, 1))  \
    OP(conv_transpose2d, "r1x2x3x3 r2x2x4x4 r2",                                           \
       tc_conv_transpose2d(a, b, c, 2, 1, 0, 1, 1))                                        \
    OP(conv_transpose2d_rest, "r1x2x3x3 r2x2x3x3",                                         \
       tc_conv_transpose2d(a, b, tc_null(), 2, 1, 1, 1, 1))                                \
    OP(conv_transpose2d_groups, "r1x4x2x3 r4x1x2x3 r2",                                    \
       tc_conv_transpose2d(a, b, c, 1, 0, 0, 2, 2))                                        \
    OP(conv_transpose2d_with, "r1x2x3x4 r2x2x2x2 r2", spread_with(a, b, c))                \
    OP(conv_transpose3d, "r1x2x2x3x2 r2x2x2x3x2 r2",                                       \
       tc_conv_transpose3d(a, b, c, 2, 1, 1, 1, 1))                                        \
    OP(conv_transpose3d_groups, "r1x4x2x1x2 r4x1x2x2x3",                                   \
       tc_conv_transpose3d(a, b, tc_null(), 1, 0, 0, 2, 2))                                \
    OP(avg_pool2d, "r1x2x4x6", tc_avg_pool2d(a, 2, 0, 0))                                  \
    OP(avg_pool2d_overlap, "r1x1x5x5", tc_avg_pool2d(a, 3, 2, 1))                          \
    OP(max_pool2d, "r1x2x4x6", tc_max_pool2d(a, 2, 0, 0))                                  \
    OP(max_pool2d_overlap, "r1x1x5x6", tc_max_pool2d(a, 3, 1, 1))                          \
    OP(nearest, "r1x3x2", tc_interpolate(a, TC_DIMS(5, 3), TC_NEAREST))                    \
    OP(bilinear, "r1x3x4", tc_interpolate(a, TC_DIMS(5, 3), TC_LINEAR))                    \
    OP(corners, "r1x3x4", tc_interpolate(a, TC_DIMS(5, 7), TC_LINEAR_CORNERS))             \
    OP(shorter, "r2x8", tc_interpolate(a, TC_DIMS(3), TC_LINEAR))
OPS(windows, WINDOWS)

// ---- softmax, norms, losses, attention ----
#define ATTENTION(mask, causal, scale)                                                     \
    tc_scaled_dot_product_attention(a, b, c, mask, causal, scale)
#define COMPOSITES(OP)                                                                     \
    OP(softmax, "r3x4", tc_softmax(a, 1))                                                  \
    OP(softmax_rows, "r4x3", tc_softmax(a, 0))                                             \
    OP(log_softmax, "r3x4", tc_log_softmax(a, -1))                                         \
    OP(log_softmax_rows, "r2x3x2", tc_log_softmax(a, 1))                                   \
    OP(layer_norm, "r3x4 r4 r4", tc_layer_norm(a, b, c, 1e-3))                             \
    OP(layer_norm_plain, "r2x3x4", tc_layer_norm(a, tc_null(), tc_null(), 1e-5))           \
    OP(rms_norm, "r3x4 r4", tc_rms_norm(a, b, 1e-3))                                       \
    OP(rms_norm_plain, "r3x4", tc_rms_norm(a, tc_null(), 1e-5))                            \
    OP(group_norm, "r2x4x3 r4 r4", tc_group_norm(a, 2, b, c, 1e-3))                        \
    OP(batch_norm, "r2x3x2 r3 p3 r3 r3", tc_batch_norm(a, b, c, d, e, 1e-3))               \
    OP(normalize, "r3x4", tc_normalize(a, 2, 1, 1e-12))                                    \
    OP(normalize_1, "r3x4", tc_normalize(a, 1, 0, 1e-12))                                  \
    OP(cosine_similarity, "r3x4 r3x4", tc_cosine_similarity(a, b, 1, 1e-8))                \
    OP(cosine_broadcast, "r3x4 r4", tc_cosine_similarity(a, b, -1, 1e-8))                  \
    OP(dropout, "r4x6", tc_dropout(a, 0.4))                                                \
    OP(dropout_squared, "r4x6", tc_dropout(tc_square(tc_dropout(a, 0.3)), 0.2))            \
    OP(with_noise, "r3x4",                                                                 \
       tc_mul(a, tc_cast(tc_randn(tc, TC_DIMS(3, 4), TC_F32), tc_dtype_of(a))))            \
    OP(mse_loss, "r3x4 r3x4", tc_mse_loss(a, b))                                           \
    OP(l1_loss, "r3x4 r3x4", tc_l1_loss(a, b))                                             \
    OP(cross_entropy, "r4x3 i3<4", tc_cross_entropy(a, b))                                 \
    OP(cross_entropy_map, "r2x3x2x2 i3<2x2x2", tc_cross_entropy(a, b))                     \
    OP(cross_entropy_one, "r5 i5<s", tc_cross_entropy(a, b))                               \
    OP(cross_entropy_ignore, "r6x3 i3<6", tc_cross_entropy_ignore(a, b, 1))                \
    OP(bce_with_logits, "r3x4 u3x4", tc_bce_with_logits(a, b))                             \
    OP(attention, "r2x3x2 r2x4x2 r2x4x3", ATTENTION(tc_null(), 0, 0))                      \
    OP(attention_heads, "r1x2x3x2 r1x2x3x2 r1x2x3x2", ATTENTION(tc_null(), 0, 0.3))        \
    OP(attention_causal, "r1x4x2 r1x4x2 r1x4x2", ATTENTION(tc_null(), 1, 0))               \
    OP(attention_added, "r1x3x2 r1x4x2 r1x4x2 r3x4", ATTENTION(d, 0, 0))                   \
    OP(attention_mask, "r1x3x2 r1x4x2 r1x4x2 b3x4", ATTENTION(d, 0, 0))
OPS(composites, COMPOSITES)

// ---- the third derivative, against formulas ----
// Differences of a, b, a of sum(f(a, b)), element by element.
static void third(tc_ctx *tc, op_fn f, const tc_tensor *in, const int *by, double *out) {
    BEGIN("third");
    tc_tensor y = f(tc, in);
    for (int k = 0; k < 3; k++) {
        tc_tensor loss = tc_sum_all(y);
        tc_grad(loss, &in[by[k]], 1, &y);
    }
    END();
    elements(y, out, ELEMENTS);
}

OP_CALL(third_sin, "", tc_sin(a))
OP_CALL(third_power, "", tc_pow_s(a, 5))
OP_CALL(third_exp, "", tc_exp(tc_mul(a, b)))

BOTH(third_derivatives) {
    enum { N = 24 };
    static const int a_a_a[] = {0, 0, 0}, a_a_b[] = {0, 0, 1}, a_b_a[] = {0, 1, 0};
    double a[N], b[N], d[ELEMENTS];
    random_state = 3;
    for (int i = 0; i < N; i++) a[i] = random_in(-2, 2), b[i] = random_in(-1, 1);
    tc_tensor in[MOST] = {tc_from_data(tc, a, TC_DIMS(N), TC_F64),
                          tc_from_data(tc, b, TC_DIMS(N), TC_F64)};
    third(tc, op_third_sin, in, a_a_a, d);
    for (int i = 0; i < N; i++) CHECK_NEAR(d[i], -cos(a[i]), 1e-12);
    third(tc, op_third_power, in, a_a_a, d);
    for (int i = 0; i < N; i++) CHECK_NEAR(d[i], 60 * a[i] * a[i], 1e-11);
    third(tc, op_third_exp, in, a_a_a, d);
    for (int i = 0; i < N; i++) CHECK_NEAR(d[i], pow(b[i], 3) * exp(a[i] * b[i]), 1e-10);
    // in either order
    third(tc, op_third_exp, in, a_a_b, d);
    for (int i = 0; i < N; i++) {
        double ab = a[i] * b[i];
        CHECK_NEAR(d[i], b[i] * exp(ab) * (2 + ab), 1e-10);
    }
    third(tc, op_third_exp, in, a_b_a, d);
    for (int i = 0; i < N; i++) {
        double ab = a[i] * b[i];
        CHECK_NEAR(d[i], b[i] * exp(ab) * (2 + ab), 1e-10);
    }
}
