// clang-format off: tables and embedded text, laid out by hand
// Unit tests of gen/kernel/print*.c: LOOP lists made by hand, printed, compiled by gcc and
// clang for AVX2 and for the plain target, run, compared with a reference in double and
// with each other bit by bit. A compiler that is missing is skipped.
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE 1
#endif
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"

#include "tcompile_cuda.in.h"

// ---- the reference's mathematics: libm at run time, since tests link without it

static double (*ref_exp)(double);
static double (*ref_erfc)(double);
static double (*ref_sqrt)(double);

static double ref_fmax(double a, double b) { return a > b ? a : b; }
static double ref_fmin(double a, double b) { return a < b ? a : b; }
static double ref_fabs(double a) { return a < 0 ? -a : a; }

static int open_libm(void) {
    void *so = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    void *exp_at = so ? dlsym(so, "exp") : NULL, *erfc_at = so ? dlsym(so, "erfc") : NULL;
    void *sqrt_at = so ? dlsym(so, "sqrt") : NULL;
    memcpy(&ref_exp, &exp_at, sizeof exp_at);
    memcpy(&ref_erfc, &erfc_at, sizeof erfc_at);
    memcpy(&ref_sqrt, &sqrt_at, sizeof sqrt_at);
    return exp_at && erfc_at && sqrt_at;
}

static int passed, failed;

static void check(int ok, const char *what, const char *detail) {
    passed += ok;
    failed += !ok;
    if (!ok) printf("FAIL %s: %s\n", what, detail);
}

// ---- LOOP lists by hand

enum { MAX_BUFFERS = 8, MAX_NODES = 80 };

typedef struct kit {
    tc__group g;
    tc_ctx *ctx;
    tc__ixpool *ix;
    tc__level level;
    tc__ix r, c, k;
    int64_t size[4]; // run-time sizes
} kit;

#define I(v)      tc__ix_const(v)
#define ADD(a, b) tc__ix_add(t->ix, a, b)
#define MUL(a, b) tc__ix_mul(t->ix, a, b)
#define DIV(a, b) tc__ix_div(t->ix, a, b)
#define MOD(a, b) tc__ix_mod(t->ix, a, b)

static void start(kit *t, tc__group_kind kind, tc__ix rows, tc__ix cols, const char *what) {
    t->g.shape.kind = kind, t->g.shape.rows = rows, t->g.shape.cols = cols;
    (void)what; // read it in the call
    t->g.shape.vector = TC__COL, t->g.shape.items = rows, t->g.shape.grain = 1,
    t->g.shape.batch = I(1);
    t->r = tc__ix_var(t->ix, TC__ROW, rows);
    t->c = tc__ix_var(t->ix, TC__COL, cols);
    t->level = TC__AT_ROW;
}

static int64_t buffer(kit *t, tc__place place, int dtype, int written, tc__ix numel,
                      tc__ix offset) {
    tc__kbuf b;
    memset(&b, 0, sizeof b);
    b.place = place, b.dtype = (uint8_t)dtype, b.written = (uint8_t)written,
    b.numel = numel;
    b.offset = offset, b.source = (uint32_t)t->g.buffer.count;
    if (!TC__PUSH(t->ctx, t->g.buffer, b)) abort();
    return (int64_t)t->g.buffer.count - 1;
}

static int64_t input(kit *t, int dtype, tc__ix n) {
    return buffer(t, TC__BUF_INPUT, dtype, 0, n, 0);
}
static int64_t output(kit *t, int dtype, tc__ix n) {
    return buffer(t, TC__BUF_NODE, dtype, 1, n, 0);
}

static uint32_t put(kit *t, tc__op op, int dtype, int n_in, uint32_t a, uint32_t b,
                    uint32_t c, int n_attr, const int64_t *attr) {
    tc__node n;
    uint32_t in[3];
    int64_t words[16];
    memset(&n, 0, sizeof n);
    in[0] = a, in[1] = b, in[2] = c;
    if (n_attr) memcpy(words, attr, (size_t)n_attr * sizeof *attr);
    n.op = (uint16_t)op, n.stage = TC__LOOP, n.dtype = (uint8_t)dtype,
    n.level = (uint8_t)t->level;
    n.in = in, n.n_in = (uint32_t)n_in, n.attr = words, n.n_attr = (uint32_t)n_attr;
    tc__node *m = tc__node_append(&t->g.body, &n);
    if (!m) abort();
    return m->id;
}

static uint32_t un(kit *t, tc__op op, int dtype, uint32_t a) {
    return put(t, op, dtype, 1, a, 0, 0, 0, NULL);
}
static uint32_t bin(kit *t, tc__op op, int dtype, uint32_t a, uint32_t b) {
    return put(t, op, dtype, 2, a, b, 0, 0, NULL);
}
static uint32_t tern(kit *t, tc__op op, int dtype, uint32_t a, uint32_t b, uint32_t c) {
    return put(t, op, dtype, 3, a, b, c, 0, NULL);
}
static uint32_t num(kit *t, int dtype, double v) {
    tc__level level = t->level;
    tc__value x = tc__value_of(v, dtype);
    int64_t attr[1];
    memcpy(attr, &x, sizeof x);
    t->level = TC__AT_ROW;
    uint32_t id = put(t, TC_OP_CONST, dtype, 0, 0, 0, 0, 1, attr);
    t->level = level;
    return id;
}
static uint32_t cast(kit *t, int dtype, uint32_t a) {
    int64_t attr[1];
    attr[0] = dtype;
    return put(t, TC_OP_CAST, dtype, 1, a, 0, 0, 1, attr);
}
static uint32_t load(kit *t, int64_t b, tc__ix e) {
    int64_t attr[3];
    attr[0] = b, attr[1] = e, attr[2] = 0;
    return put(t, TC_OP_LOAD, t->g.buffer.at[b].dtype, 0, 0, 0, 0, 3, attr);
}
static uint32_t load_if(kit *t, int64_t b, tc__ix e, double fill, tc__ix p, tc__ix limit,
                        tc__ix q, tc__ix limit2) {
    int64_t attr[7];
    tc__value x = tc__value_of(fill, t->g.buffer.at[b].dtype);
    attr[0] = b, attr[1] = e, attr[3] = p, attr[4] = limit, attr[5] = q, attr[6] = limit2;
    memcpy(&attr[2], &x, sizeof x);
    return put(t, TC_OP_LOAD, t->g.buffer.at[b].dtype, 0, 0, 0, 0, 7, attr);
}
static void store_at(kit *t, int64_t b, tc__ix e, uint32_t v, int stream) {
    int64_t attr[3];
    attr[0] = b, attr[1] = e, attr[2] = stream;
    put(t, TC_OP_STORE, t->g.buffer.at[b].dtype, 1, v, 0, 0, 3, attr);
}
static void loop(kit *t, tc__axis axis, tc__bind bind, int unroll, int chunk, tc__ix end) {
    int64_t attr[6];
    attr[0] = axis, attr[1] = bind, attr[2] = unroll, attr[3] = chunk, attr[4] = I(0),
    attr[5] = end;
    t->level = TC__AT_ROW;
    put(t, TC_OP_FOR, TC_I64, 0, 0, 0, 0, 6, attr);
    t->level = axis == TC__COL ? TC__AT_COL : TC__AT_ROW;
}
static void end(kit *t, tc__axis axis) {
    int64_t attr[1];
    attr[0] = axis, t->level = TC__AT_ROW;
    put(t, TC_OP_END, TC_I64, 0, 0, 0, 0, 1, attr);
}
static void fresh(kit *t, int acc, tc__op monoid, int dtype) {
    int64_t attr[2];
    attr[0] = acc, attr[1] = monoid;
    put(t, TC_OP_NEW, dtype, 0, 0, 0, 0, 2, attr);
}
static void step(kit *t, int acc, tc__op monoid, uint32_t v) {
    int64_t attr[2];
    attr[0] = monoid, attr[1] = acc;
    put(t, TC_OP_ACC, t->g.body.node.at[v]->dtype, 1, v, 0, 0, 2, attr);
}
static uint32_t combine(kit *t, int acc, tc__op monoid, int dtype) {
    int64_t attr[2];
    attr[0] = acc, attr[1] = monoid;
    return put(t, TC_OP_COMBINE, dtype, 0, 0, 0, 0, 2, attr);
}
static uint32_t index_of(kit *t, tc__ix e) {
    return put(t, TC_OP_INDEX, TC_I64, 0, 0, 0, 0, 1, &e);
}
static uint32_t safe(kit *t, uint32_t v, tc__ix limit, int64_t site) {
    int64_t attr[2];
    attr[0] = limit, attr[1] = site;
    return put(t, TC_OP_CHECK, TC_I64, 1, v, 0, 0, 2, attr);
}

// ---- data: what a case sees when it computes its reference

typedef struct data {
    int count;
    void *at[MAX_BUFFERS];
    size_t bytes[MAX_BUFFERS];
    int64_t size[4];
    tc__value arg[4];
    int64_t flag[4];
} data;

#define IN(i) ((const float *)d->at[i])

typedef struct test_case {
    const char *name;
    void (*build)(kit *t);
    void (*reference)(const data *d, double *out); // of the last buffer but scratch
    double tolerance;                              // relative to max(1, |x|)
} test_case;

// ---- cases

enum { N1 = 1003 };

// gelu(x * a + y), relu, u8 and bool on the side; symbolic length
static void build_pointwise(kit *t) {
    tc__ix s0 = tc__ix_sym(t->ix, 0, 1, 1 << 20);
    start(t, TC__POINTWISE, I(1), s0, "out = relu(gelu(x * a + y)) where x < y");
    t->g.shape.split_columns = 1, t->g.shape.grain = 64;
    t->g.shape.items = tc__ix_ceil_div(t->ix, s0, I(64));
    int64_t x = input(t, TC_F32, s0), y = input(t, TC_F32, s0), o = output(t, TC_F32, s0);
    int64_t attr[1];
    attr[0] = 0;
    uint32_t a = put(t, TC_OP_ARG, TC_F32, 0, 0, 0, 0, 1, attr),
             two = num(t, TC_F32, -0.75);
    loop(t, TC__ROW, TC__BIND_SERIAL, 1, 0, I(1));
    loop(t, TC__COL, TC__BIND_WORKER, 1, 0, s0);
    uint32_t u = load(t, x, t->c), v = load(t, y, t->c);
    uint32_t w = bin(t, TC_OP_ADD, TC_F32, bin(t, TC_OP_MUL, TC_F32, u, a), v);
    uint32_t e = un(t, TC_OP_GELU, TC_F32, w), p = bin(t, TC_OP_LT, TC_BOOL, u, v);
    e = un(t, TC_OP_RELU, TC_F32, e);
    store_at(t, o, t->c, tern(t, TC_OP_WHERE, TC_F32, p, e, two), 1);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_pointwise(const data *d, double *out) {
    for (int i = 0; i < N1; i++) {
        double x = (double)IN(0)[i], y = (double)IN(1)[i], z = x * d->arg[0].f + y;
        double g = z * 0.5 * ref_erfc(-z * 0.70710678118654752);
        out[i] = x < y ? (g > 0 ? g : 0) : -0.75;
    }
}

enum { ROWS = 37, COLS = 196 };

static void build_softmax(kit *t) {
    start(t, TC__REDUCTION, I(ROWS), I(COLS), "softmax over the columns");
    tc__ix n = I(ROWS * COLS), e = ADD(MUL(t->r, I(COLS)), t->c);
    int64_t x = input(t, TC_F32, n), o = output(t, TC_F32, n);
    int64_t row = buffer(t, TC__BUF_ROW, TC_F32, 1, I(COLS), I(0));
    t->g.shape.scratch = I(1024);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(ROWS));
    fresh(t, 0, TC_OP_MAXIMUM, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 0, I(COLS));
    step(t, 0, TC_OP_MAXIMUM, load(t, x, e));
    end(t, TC__COL);
    uint32_t m = combine(t, 0, TC_OP_MAXIMUM, TC_F32);
    fresh(t, 1, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 0, 0, I(COLS));
    uint32_t v = un(t, TC_OP_EXP, TC_F32, bin(t, TC_OP_SUB, TC_F32, load(t, x, e), m));
    store_at(t, row, t->c, v, 0);
    step(t, 1, TC_OP_ADD, v);
    end(t, TC__COL);
    uint32_t s = un(t, TC_OP_RECIPROCAL, TC_F32, combine(t, 1, TC_OP_ADD, TC_F32));
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(COLS));
    store_at(t, o, e, bin(t, TC_OP_MUL, TC_F32, load(t, row, t->c), s), 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_softmax(const data *d, double *out) {
    for (int r = 0; r < ROWS; r++) {
        double m = -1e300, s = 0;
        for (int c = 0; c < COLS; c++) m = ref_fmax(m, (double)IN(0)[r * COLS + c]);
        for (int c = 0; c < COLS; c++) s += ref_exp((double)IN(0)[r * COLS + c] - m);
        for (int c = 0; c < COLS; c++)
            out[r * COLS + c] = ref_exp((double)IN(0)[r * COLS + c] - m) / s;
    }
}

// the same with sizes known at run time only
static void build_softmax_any(kit *t) {
    tc__ix rows = tc__ix_sym(t->ix, 1, 1, 1 << 20), cols = tc__ix_sym(t->ix, 2, 1, 1 << 20);
    t->size[1] = ROWS, t->size[2] = COLS;
    start(t, TC__REDUCTION, rows, cols, "softmax over the columns, any size");
    tc__ix n = MUL(rows, cols), e = ADD(MUL(t->r, cols), t->c);
    int64_t x = input(t, TC_F32, n), o = output(t, TC_F32, n);
    int64_t row = buffer(t, TC__BUF_ROW, TC_F32, 1, cols, I(0));
    t->g.shape.scratch = ADD(MUL(cols, I(4)), I(64));
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, rows);
    fresh(t, 0, TC_OP_MAXIMUM, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 8192, cols);
    step(t, 0, TC_OP_MAXIMUM, load(t, x, e));
    end(t, TC__COL);
    uint32_t m = combine(t, 0, TC_OP_MAXIMUM, TC_F32);
    fresh(t, 1, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 0, 8192, cols);
    uint32_t v = un(t, TC_OP_EXP, TC_F32, bin(t, TC_OP_SUB, TC_F32, load(t, x, e), m));
    store_at(t, row, t->c, v, 0);
    step(t, 1, TC_OP_ADD, v);
    end(t, TC__COL);
    uint32_t s = un(t, TC_OP_RECIPROCAL, TC_F32, combine(t, 1, TC_OP_ADD, TC_F32));
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, cols);
    store_at(t, o, e, bin(t, TC_OP_MUL, TC_F32, load(t, row, t->c), s), 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

// softmax over dim 0 of [19, 45]: the vector runs along the rows, scratch holds 32 of them
static void build_softmax_rows(kit *t) {
    start(t, TC__REDUCTION, I(45), I(19), "softmax over dim 0 of [19, 45]");
    t->g.shape.vector = TC__ROW, t->g.shape.items = I(2),
    t->g.shape.scratch = I(19 * 32 * 4);
    tc__ix n = I(19 * 45), e = ADD(t->r, MUL(t->c, I(45)));
    int64_t x = input(t, TC_F32, n), o = output(t, TC_F32, n);
    int64_t row = buffer(t, TC__BUF_ROW, TC_F32, 1, I(19), I(0));
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(45));
    fresh(t, 0, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_SERIAL, 4, 0, I(19));
    uint32_t v = un(t, TC_OP_EXP, TC_F32, load(t, x, e));
    store_at(t, row, t->c, v, 0);
    step(t, 0, TC_OP_ADD, v);
    end(t, TC__COL);
    uint32_t s = combine(t, 0, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_SERIAL, 1, 0, I(19));
    store_at(t, o, e, bin(t, TC_OP_DIV, TC_F32, load(t, row, t->c), s), 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_softmax_rows(const data *d, double *out) {
    for (int r = 0; r < 45; r++) {
        double s = 0;
        for (int c = 0; c < 19; c++) s += ref_exp((double)IN(0)[r + 45 * c]);
        for (int c = 0; c < 19; c++)
            out[r + 45 * c] = ref_exp((double)IN(0)[r + 45 * c]) / s;
    }
}

// x < uniform ? x : 0, and the mask's rate is what it should be
static void build_random(kit *t) {
    start(t, TC__POINTWISE, I(1), I(4000), "uniform random numbers");
    int64_t o = output(t, TC_F32, I(4000)), attr[2];
    attr[0] = 0, attr[1] = 3;
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(1));
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(4000));
    uint32_t u = put(t, TC_OP_RANDOM, TC_F32, 1, index_of(t, t->c), 0, 0, 2, attr);
    store_at(t, o, t->c, u, 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_random(const data *d, double *out) {
    double sum = 0;
    for (int i = 0; i < 4000; i++) {
        out[i] = (double)IN(0)[i], sum += out[i] / 4000;
        if (out[i] < 0 || out[i] >= 1) out[i] = 2;
    }
    if (sum < 0.48 || sum > 0.52) out[0] = 2;
}

// mean and variance in one loop each, gamma and beta; 768 columns, no tail
enum { LN_ROWS = 11, LN_COLS = 768 };

static void build_layernorm(kit *t) {
    start(t, TC__REDUCTION, I(LN_ROWS), I(LN_COLS), "layer norm");
    tc__ix n = I(LN_ROWS * LN_COLS), e = ADD(MUL(t->r, I(LN_COLS)), t->c);
    int64_t x = input(t, TC_F32, n), gamma = input(t, TC_F32, I(LN_COLS)),
            o = output(t, TC_F32, n);
    uint32_t scale = num(t, TC_F32, 1.0 / LN_COLS), eps = num(t, TC_F32, 1e-5);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(LN_ROWS));
    fresh(t, 0, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 0, I(LN_COLS));
    step(t, 0, TC_OP_ADD, load(t, x, e));
    end(t, TC__COL);
    uint32_t mean = bin(t, TC_OP_MUL, TC_F32, combine(t, 0, TC_OP_ADD, TC_F32), scale);
    fresh(t, 1, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 0, I(LN_COLS));
    uint32_t dev = bin(t, TC_OP_SUB, TC_F32, load(t, x, e), mean);
    step(t, 1, TC_OP_ADD, un(t, TC_OP_SQUARE, TC_F32, dev));
    end(t, TC__COL);
    uint32_t var = bin(t, TC_OP_MUL, TC_F32, combine(t, 1, TC_OP_ADD, TC_F32), scale);
    uint32_t inv = un(t, TC_OP_RSQRT, TC_F32, bin(t, TC_OP_ADD, TC_F32, var, eps));
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(LN_COLS));
    dev = bin(t, TC_OP_SUB, TC_F32, load(t, x, e), mean);
    dev = bin(t, TC_OP_MUL, TC_F32, bin(t, TC_OP_MUL, TC_F32, dev, inv),
              load(t, gamma, t->c));
    store_at(t, o, e, dev, 1);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_layernorm(const data *d, double *out) {
    for (int r = 0; r < LN_ROWS; r++) {
        const float *x = IN(0) + r * LN_COLS;
        double m = 0, v = 0;
        for (int c = 0; c < LN_COLS; c++) m += (double)x[c] / LN_COLS;
        for (int c = 0; c < LN_COLS; c++)
            v += ((double)x[c] - m) * ((double)x[c] - m) / LN_COLS;
        for (int c = 0; c < LN_COLS; c++)
            out[r * LN_COLS + c] =
                ((double)x[c] - m) / ref_sqrt(v + 1e-5) * (double)IN(1)[c];
    }
}

// Sum over the slow dimension: the vector runs along the rows, 9000 columns make two
// chunks.
enum { CS_ROWS = 77, CS_COLS = 9000 };

static void build_column_sum(kit *t) {
    start(t, TC__REDUCTION, I(CS_ROWS), I(CS_COLS), "sum over dim 0 of [9000, 77]");
    t->g.shape.vector = TC__ROW;
    t->g.shape.items = I((CS_ROWS + 31) / 32);
    int64_t x = input(t, TC_F32, I(CS_ROWS * CS_COLS)), o = output(t, TC_F32, I(CS_ROWS));
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(CS_ROWS));
    fresh(t, 0, TC_OP_ADD, TC_F32);
    loop(t, TC__COL, TC__BIND_SERIAL, 4, 8192, I(CS_COLS));
    step(t, 0, TC_OP_ADD, load(t, x, ADD(t->r, MUL(t->c, I(CS_ROWS)))));
    end(t, TC__COL);
    store_at(t, o, t->r, combine(t, 0, TC_OP_ADD, TC_F32), 0);
    end(t, TC__ROW);
}

static void ref_column_sum(const data *d, double *out) {
    for (int r = 0; r < CS_ROWS; r++) {
        out[r] = 0;
        for (int c = 0; c < CS_COLS; c++) out[r] += (double)IN(0)[r + c * CS_ROWS];
    }
}

// One long row: 20001 elements, three chunks.
enum { LONG = 20001 };

static void build_long_sum(kit *t) {
    start(t, TC__REDUCTION, I(2), I(LONG), "sum and product of maxima, long rows");
    int64_t x = input(t, TC_F32, I(2 * LONG)), o = output(t, TC_F32, I(2));
    tc__ix e = ADD(MUL(t->r, I(LONG)), t->c);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(2));
    fresh(t, 0, TC_OP_ADD, TC_F32);
    fresh(t, 1, TC_OP_MINIMUM, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 8192, I(LONG));
    uint32_t v = load(t, x, e);
    step(t, 0, TC_OP_ADD, v);
    step(t, 1, TC_OP_MINIMUM, v);
    end(t, TC__COL);
    uint32_t s = combine(t, 0, TC_OP_ADD, TC_F32), m = combine(t, 1, TC_OP_MINIMUM, TC_F32);
    store_at(t, o, t->r, bin(t, TC_OP_MUL, TC_F32, s, m), 0);
    end(t, TC__ROW);
}

static void ref_long_sum(const data *d, double *out) {
    for (int r = 0; r < 2; r++) {
        double s = 0, m = 1e300;
        for (int c = 0; c < LONG; c++) {
            s += (double)IN(0)[r * LONG + c];
            m = ref_fmin(m, (double)IN(0)[r * LONG + c]);
        }
        out[r] = s * m;
    }
}

// argmin of squared values over columns, vector along columns, tail
static void build_argmin(kit *t) {
    start(t, TC__REDUCTION, I(ROWS), I(COLS), "argmin of (x - 0.5)^2");
    int64_t x = input(t, TC_F32, I(ROWS * COLS)), o = output(t, TC_I64, I(ROWS));
    uint32_t half = num(t, TC_F32, 0.5);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(ROWS));
    fresh(t, 0, TC_OP_ARGMIN, TC_F32);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 0, I(COLS));
    uint32_t v = bin(t, TC_OP_SUB, TC_F32, load(t, x, ADD(MUL(t->r, I(COLS)), t->c)), half);
    step(t, 0, TC_OP_ARGMIN, un(t, TC_OP_SQUARE, TC_F32, v));
    end(t, TC__COL);
    store_at(t, o, t->r, combine(t, 0, TC_OP_ARGMIN, TC_I64), 0);
    end(t, TC__ROW);
}

static void ref_argmin(const data *d, double *out) {
    for (int r = 0; r < ROWS; r++) {
        float best = 1e30f;
        for (int c = 0; c < COLS; c++) {
            float v = IN(0)[r * COLS + c] - 0.5f;
            v = v * v;
            if (v < best) best = v, out[r] = c;
        }
    }
}

// argmax in f64 along the rows
static void build_argmax_rows(kit *t) {
    start(t, TC__REDUCTION, I(45), I(19), "argmax over dim 0 of [19, 45] in f64");
    t->g.shape.vector = TC__ROW;
    t->g.shape.items = I(2);
    int64_t x = input(t, TC_F32, I(45 * 19)), o = output(t, TC_I64, I(45));
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(45));
    fresh(t, 0, TC_OP_ARGMAX, TC_F64);
    loop(t, TC__COL, TC__BIND_SERIAL, 1, 0, I(19));
    step(t, 0, TC_OP_ARGMAX, cast(t, TC_F64, load(t, x, ADD(t->r, MUL(t->c, I(45))))));
    end(t, TC__COL);
    store_at(t, o, t->r, combine(t, 0, TC_OP_ARGMAX, TC_I64), 0);
    end(t, TC__ROW);
}

static void ref_argmax_rows(const data *d, double *out) {
    for (int r = 0; r < 45; r++) {
        double best = -1e300;
        for (int c = 0; c < 19; c++)
            if ((double)IN(0)[r + c * 45] > best)
                best = (double)IN(0)[r + c * 45], out[r] = c;
    }
}

// A reduction that nothing needs, such as the sum in take(expand(t), cast(sum(x, 1))), all of whose
// elements are one: no accumulator, no loop over columns, and the vector runs along the rows.
static void build_rows_alone(kit *t) {
    start(t, TC__REDUCTION, I(45), I(9), "3 x - 1 of [45], in a space of [45, 9]");
    t->g.shape.vector = TC__ROW, t->g.shape.items = I(2);
    int64_t x = input(t, TC_F32, I(45)), o = output(t, TC_F32, I(45));
    uint32_t three = num(t, TC_F32, 3), one = num(t, TC_F32, 1);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(45));
    uint32_t v = bin(t, TC_OP_MUL, TC_F32, load(t, x, t->r), three);
    store_at(t, o, t->r, bin(t, TC_OP_SUB, TC_F32, v, one), 0);
    end(t, TC__ROW);
}

static void ref_rows_alone(const data *d, double *out) {
    for (int r = 0; r < 45; r++) out[r] = 3 * (double)IN(0)[r] - 1;
}

// rows of a table by index, times a transposed factor; one index is out of range
enum { TABLE = 50, WIDTH = 20, PICKS = 9 };

static void build_gather(kit *t) {
    start(t, TC__POINTWISE, I(PICKS), I(WIDTH),
          "table[index[r], c] * w[c, r] + w[index[c % 9], 0]");
    int64_t table = input(t, TC_F32, I(TABLE * WIDTH)), index = input(t, TC_I32, I(PICKS));
    int64_t w = input(t, TC_F32, I(WIDTH * PICKS)), o = output(t, TC_F32, I(PICKS * WIDTH));
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(PICKS));
    uint32_t i = safe(t, cast(t, TC_I64, load(t, index, t->r)), I(TABLE), 7);
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(WIDTH));
    tc__ix e = ADD(MUL(tc__ix_val(t->ix, i, I(TABLE)), I(WIDTH)), t->c);
    uint32_t v = bin(t, TC_OP_MUL, TC_F32, load(t, table, e),
                     load(t, w, ADD(MUL(t->c, I(PICKS)), t->r)));
    uint32_t j = safe(t, cast(t, TC_I64, load(t, index, MOD(t->c, I(PICKS)))), I(TABLE), 8);
    e = MUL(tc__ix_val(t->ix, j, I(TABLE)), I(WIDTH));
    v = bin(t, TC_OP_ADD, TC_F32, v, load(t, table, e));
    uint32_t k = cast(t, TC_F32, index_of(t, ADD(t->r, MUL(t->c, I(3)))));
    store_at(t, o, ADD(MUL(t->r, I(WIDTH)), t->c), bin(t, TC_OP_ADD, TC_F32, v, k), 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static int64_t clamp_index(int64_t i) {
    if (i < 0) i += TABLE;
    return i < 0 ? 0 : i >= TABLE ? TABLE - 1 : i;
}

static void ref_gather(const data *d, double *out) {
    const int32_t *index = (const int32_t *)d->at[1];
    for (int r = 0; r < PICKS; r++)
        for (int c = 0; c < WIDTH; c++)
            out[r * WIDTH + c] = (double)IN(0)[clamp_index(index[r]) * WIDTH + c] *
                                     (double)IN(2)[c * PICKS + r] +
                                 (double)IN(0)[clamp_index(index[c % PICKS]) * WIDTH] + r +
                                 3 * c;
}

// 3-point stencil of each of 12 images of 24 x 40 with zero padding, both directions
enum { IMG = 12, HEIGHT = 24, WIDE = 40 };

static void build_stencil(kit *t) {
    start(t, TC__POINTWISE, I(IMG * HEIGHT), I(WIDE), "cross stencil with zero padding");
    tc__ix n = I(IMG * HEIGHT * WIDE), y = MOD(t->r, I(HEIGHT)),
           e = ADD(MUL(t->r, I(WIDE)), t->c);
    int64_t x = input(t, TC_F32, n), o = output(t, TC_F32, n);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(IMG * HEIGHT));
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(WIDE));
    uint32_t v = load(t, x, e);
    for (int i = -1; i <= 1; i += 2) {
        v = bin(t, TC_OP_ADD, TC_F32, v,
                load_if(t, x, ADD(e, I(i)), 0, ADD(t->c, I(i)), I(WIDE), y, I(HEIGHT)));
        v = bin(
            t, TC_OP_ADD, TC_F32, v,
            load_if(t, x, ADD(e, I(i * WIDE)), 2, t->c, I(WIDE), ADD(y, I(i)), I(HEIGHT)));
    }
    store_at(t, o, e, v, 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_stencil(const data *d, double *out) {
    for (int r = 0; r < IMG * HEIGHT; r++)
        for (int c = 0; c < WIDE; c++) {
            int y = r % HEIGHT, i = r * WIDE + c;
            out[i] = (double)IN(0)[i];
            for (int k = -1; k <= 1; k += 2) {
                if (c + k >= 0 && c + k < WIDE) out[i] += (double)IN(0)[i + k];
                out[i] += y + k >= 0 && y + k < HEIGHT ? (double)IN(0)[i + k * WIDE] : 2;
            }
        }
}

// bytes: u8 is computed as i32 and wrapped by casts, bool masks, any and all, i64 and f64
static void build_bytes(kit *t) {
    start(t, TC__REDUCTION, I(5), I(100), "u8, bool, i32 and f64 together");
    int64_t x = input(t, TC_U8, I(500)), y = input(t, TC_BOOL, I(100)),
            o = output(t, TC_F64, I(500));
    tc__ix e = ADD(MUL(t->r, I(100)), t->c);
    uint32_t k = num(t, TC_I32, 77), limit = num(t, TC_I32, 250),
             big = num(t, TC_I64, 1e12);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(5));
    fresh(t, 0, TC_OP_ADD, TC_I32);
    fresh(t, 1, TC_OP_LOGICAL_OR, TC_BOOL);
    fresh(t, 2, TC_OP_MAXIMUM, TC_I64);
    loop(t, TC__COL, TC__BIND_VECTOR, 4, 0, I(100));
    uint32_t v = cast(t, TC_I32, load(t, x, e));
    uint32_t w = cast(t, TC_I32, cast(t, TC_U8, bin(t, TC_OP_MUL, TC_I32, v, k)));
    uint32_t b = bin(t, TC_OP_LOGICAL_AND, TC_BOOL, bin(t, TC_OP_GT, TC_BOOL, w, limit),
                     load(t, y, t->c));
    step(t, 0, TC_OP_ADD, w);
    step(t, 1, TC_OP_LOGICAL_OR, b);
    step(t, 2, TC_OP_MAXIMUM, bin(t, TC_OP_MUL, TC_I64, cast(t, TC_I64, w), big));
    end(t, TC__COL);
    uint32_t sum = cast(t, TC_U8, combine(t, 0, TC_OP_ADD, TC_I32));
    sum = cast(t, TC_F64, sum);
    uint32_t any = combine(t, 1, TC_OP_LOGICAL_OR, TC_BOOL);
    uint32_t top = cast(t, TC_F64, combine(t, 2, TC_OP_MAXIMUM, TC_I64));
    uint32_t row =
        bin(t, TC_OP_ADD, TC_F64, tern(t, TC_OP_WHERE, TC_F64, any, sum, top), top);
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(100));
    store_at(t, o, e, bin(t, TC_OP_ADD, TC_F64, row, cast(t, TC_F64, load(t, x, e))), 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_bytes(const data *d, double *out) {
    const uint8_t *x = (const uint8_t *)d->at[0], *y = (const uint8_t *)d->at[1];
    for (int r = 0; r < 5; r++) {
        int sum = 0, any = 0, top = 0;
        for (int c = 0; c < 100; c++) {
            int w = x[r * 100 + c] * 77 & 255;
            sum = (sum + w) & 255, any |= w > 250 && y[c];
            if (w > top) top = w;
        }
        for (int c = 0; c < 100; c++)
            out[r * 100 + c] = (any ? sum : top * 1e12) + top * 1e12 + x[r * 100 + c];
    }
}

// ---- products

typedef struct product {
    int batch, m, n, k, dtype, transposed, left_nodes, right_nodes, epilogue,
        any; // 1 bias + gelu, 2 softmax-like
} product;

static const product products[] = {
    {1, 16, 64, 64, TC_F32, 1, 0, 0, 1, 0},    // few rows, weights [n, k]: flipped
    {1, 50, 100, 40, TC_F32, 0, 1, 1, 1, 0},   // both sides by nodes, odd sizes
    {3, 7, 33, 20, TC_F64, 0, 0, 0, 0, 0},     // batched doubles
    {1, 100, 500, 300, TC_F32, 0, 0, 0, 1, 0}, // several blocks of columns
    {2, 60, 70, 33, TC_F32, 1, 0, 0, 0, 0},    // weights [n, k], many rows
    {1, 5, 70, 30, TC_F32, 0, 0, 0, 0, 0},     // too few rows to pack
    {2, 20, 40, 16, TC_F32, 0, 0, 0, 2, 0},    // reductions behind the product
    {1, 9, 11, 5, TC_I64, 1, 0, 0, 0, 0},      // integers, flipped
    {1, 30, 21, 9, TC_F64, 1, 1, 0, 0, 0},     // doubles, flipped, left by nodes
    {2, 60, 70, 33, TC_F32, 1, 0, 0, 0, 1}, // the fifth with sizes known at run time only
    {1, 100, 500, 300, TC_F32, 0, 0, 0, 1, 1},
    {1, 1, 100, 37, TC_F32, 1, 0, 0, 1, 0}, // one row, weights [n, k] turned in registers
    {3, 3, 41, 48, TC_F32, 1, 1, 0, 0, 0},  // batches of three, left by nodes
};

static void build_product(kit *t, const product *q) {
    tc__ix m = I(q->m), n = I(q->n), depth = I(q->k);
    if (q->any) {
        m = tc__ix_sym(t->ix, 1, 1, 1 << 20), n = tc__ix_sym(t->ix, 2, 1, 1 << 20);
        depth = tc__ix_sym(t->ix, 3, 1, 1 << 20);
        t->size[1] = q->m, t->size[2] = q->n, t->size[3] = q->k;
    }
    tc__ix rows = MUL(m, I(q->batch));
    start(t, TC__CONTRACTION, rows, n, "product with prologue and epilogue");
    t->g.shape.batch = I(q->batch);
    t->k = tc__ix_var(t->ix, TC__DEPTH, depth);
    int left = q->left_nodes ? TC_I32 : q->dtype;
    int64_t x = input(t, left, MUL(rows, depth));
    int64_t y = input(t, q->dtype, MUL(MUL(n, depth), I(q->batch))),
            b = input(t, q->dtype, n);
    int64_t o = output(t, q->dtype, MUL(rows, n));
    tc__ix e = ADD(MUL(t->r, n), t->c), in = MUL(DIV(t->r, m), MUL(depth, n));
    uint32_t two = num(t, q->dtype, 2);
    t->level = TC__AT_LEFT;
    uint32_t l = load(t, x, ADD(MUL(t->r, depth), t->k));
    if (q->left_nodes) l = cast(t, q->dtype, l);
    t->level = TC__AT_RIGHT;
    in = ADD(in, q->transposed ? ADD(MUL(t->c, depth), t->k) : ADD(MUL(t->k, n), t->c));
    uint32_t r = load(t, y, in);
    if (q->right_nodes) r = bin(t, TC_OP_MUL, q->dtype, r, two);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, rows);
    if (q->epilogue == 2) {
        fresh(t, 0, TC_OP_MAXIMUM, q->dtype);
        loop(t, TC__COL, TC__BIND_VECTOR, 4, 0, n);
        step(t, 0, TC_OP_MAXIMUM, put(t, TC_OP_CONTRACT, q->dtype, 2, l, r, 0, 1, &depth));
        end(t, TC__COL);
    }
    uint32_t top = q->epilogue == 2 ? combine(t, 0, TC_OP_MAXIMUM, q->dtype) : 0;
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, n);
    uint32_t v = put(t, TC_OP_CONTRACT, q->dtype, 2, l, r, 0, 1, &depth);
    if (q->epilogue == 1)
        v = un(t, TC_OP_GELU, q->dtype, bin(t, TC_OP_ADD, q->dtype, v, load(t, b, t->c)));
    if (q->epilogue == 2) v = bin(t, TC_OP_SUB, q->dtype, v, top);
    store_at(t, o, e, v, 0);
    end(t, TC__COL);
    end(t, TC__ROW);
    tc__contract_items(&t->g);
}

static double number(const data *d, const product *q, int buffer, int64_t i) {
    tc__value v =
        tc__value_load(d->at[buffer], i, buffer == 0 && q->left_nodes ? TC_I32 : q->dtype);
    return tc__is_float(q->dtype) && !(buffer == 0 && q->left_nodes) ? v.f : (double)v.i;
}

static void ref_product(const data *d, double *out, const product *q) {
    for (int r = 0; r < q->batch * q->m; r++) {
        double top = -1e300, *row = out + r * q->n;
        for (int c = 0; c < q->n; c++) {
            double s = 0;
            for (int k = 0; k < q->k; k++) {
                int64_t i =
                    r / q->m * q->k * q->n + (q->transposed ? c * q->k + k : k * q->n + c);
                s += number(d, q, 0, r * q->k + k) * number(d, q, 1, i);
            }
            if (q->right_nodes) s *= 2;
            if (q->epilogue == 1)
                s += number(d, q, 2, c), s = s * 0.5 * ref_erfc(-s * 0.70710678118654752);
            row[c] = s, top = ref_fmax(top, s);
        }
        for (int c = 0; c < q->n && q->epilogue == 2; c++) row[c] -= top;
    }
}

#define PRODUCT(i)                                                                         \
    static void build_product_##i(kit *t) { build_product(t, &products[i]); }              \
    static void ref_product_##i(const data *d, double *out) {                              \
        ref_product(d, out, &products[i]);                                                 \
    }
PRODUCT(0)
PRODUCT(1)
PRODUCT(2)
PRODUCT(3)
PRODUCT(4)
PRODUCT(5)
PRODUCT(6)
PRODUCT(7)
PRODUCT(8)
PRODUCT(9)
PRODUCT(10)
PRODUCT(11)
PRODUCT(12)

// out[r, c] = x[c, r] * y[r, c] + 1
static void build_transpose(kit *t) {
    start(t, TC__POINTWISE, I(70), I(100), "transpose(x) * y + 1");
    int64_t x = input(t, TC_F32, I(7000)), y = input(t, TC_F32, I(7000)),
            o = output(t, TC_F32, I(7000));
    tc__ix e = ADD(MUL(t->r, I(100)), t->c);
    uint32_t one = num(t, TC_F32, 1);
    loop(t, TC__ROW, TC__BIND_WORKER, 1, 0, I(70));
    loop(t, TC__COL, TC__BIND_VECTOR, 1, 0, I(100));
    uint32_t v =
        bin(t, TC_OP_MUL, TC_F32, load(t, x, ADD(t->r, MUL(t->c, I(70)))), load(t, y, e));
    store_at(t, o, e, bin(t, TC_OP_ADD, TC_F32, v, one), 0);
    end(t, TC__COL);
    end(t, TC__ROW);
}

static void ref_transpose(const data *d, double *out) {
    for (int r = 0; r < 70; r++)
        for (int c = 0; c < 100; c++)
            out[r * 100 + c] = (double)IN(0)[c * 70 + r] * (double)IN(1)[r * 100 + c] + 1;
}

static const test_case cases[] = {
    {"transpose", build_transpose, ref_transpose, 1e-6},
    {"pointwise", build_pointwise, ref_pointwise, 3e-6},
    {"softmax", build_softmax, ref_softmax, 1e-6},
    {"softmax_any", build_softmax_any, ref_softmax, 1e-6},
    {"softmax_rows", build_softmax_rows, ref_softmax_rows, 1e-6},
    {"random", build_random, ref_random, 0},
    {"layernorm", build_layernorm, ref_layernorm, 1e-5},
    {"column_sum", build_column_sum, ref_column_sum, 2e-4},
    {"long_sum", build_long_sum, ref_long_sum, 2e-4},
    {"argmin", build_argmin, ref_argmin, 0},
    {"argmax_rows", build_argmax_rows, ref_argmax_rows, 0},
    {"rows_alone", build_rows_alone, ref_rows_alone, 1e-6},
    {"gather", build_gather, ref_gather, 1e-6},
    {"stencil", build_stencil, ref_stencil, 1e-6},
    {"bytes", build_bytes, ref_bytes, 0},
    {"product_0", build_product_0, ref_product_0, 2e-5},
    {"product_1", build_product_1, ref_product_1, 2e-4},
    {"product_2", build_product_2, ref_product_2, 2e-5},
    {"product_3", build_product_3, ref_product_3, 2e-4},
    {"product_4", build_product_4, ref_product_4, 2e-5},
    {"product_5", build_product_5, ref_product_5, 2e-5},
    {"product_6", build_product_6, ref_product_6, 2e-5},
    {"product_7", build_product_7, ref_product_7, 0},
    {"product_8", build_product_8, ref_product_8, 2e-5},
    {"product_9", build_product_9, ref_product_9, 2e-5},
    {"product_10", build_product_10, ref_product_10, 2e-4},
    {"product_11", build_product_11, ref_product_11, 2e-4},
    {"product_12", build_product_12, ref_product_12, 2e-4},
};

// ---- running

typedef struct kargs { // as in the emitted text
    void *const *buf;
    const int64_t *size;
    const tc__value *arg;
    void *const *scratch;
    int64_t *flag;
    uint64_t seed, draw, turn;
    int64_t *packed;
} kargs;

typedef void (*kernel_fn)(const kargs *a, int64_t lo, int64_t hi, int32_t worker);

static uint64_t random_state = 1;

static uint32_t random_bits(void) {
    random_state =
        random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33);
}

static double random_unit(void) { return (double)random_bits() / 2147483648.0; }

static int64_t evaluate(const kit *t, tc__ix e, const data *d) {
    tc__ixenv v;
    memset(&v, 0, sizeof v);
    v.sym = d->size;
    return tc__ix_eval(t->ix, e, &v);
}

static void fill(void *p, int64_t n, int dtype) {
    for (int64_t i = 0; i < n; i++) {
        tc__value v;
        v.i = dtype == TC_BOOL ? random_bits() & 1
              : dtype == TC_U8 ? random_bits() & 255
                               : (int64_t)(random_bits() % 161) - 60;
        if (tc__is_float(dtype)) v.f = random_unit() * 6 - 3;
        tc__value_store(p, i, dtype, v);
    }
}

static void data_open(data *d, const kit *t) {
    memset(d, 0, sizeof *d);
    memcpy(d->size, t->size, sizeof d->size);
    d->size[0] = N1, d->arg[0].f = 1.25;
    d->count = (int)t->g.buffer.count;
    random_state = 1;
    for (int i = 0; i < d->count; i++) {
        const tc__kbuf *b = &t->g.buffer.at[i];
        int64_t n = evaluate(t, b->numel, d);
        if (b->place == TC__BUF_ROW || b->place == TC__BUF_TILE) continue;
        d->bytes[i] = (size_t)n * tc__dtypes[b->dtype].bytes;
        d->at[i] = aligned_alloc(64, (d->bytes[i] + 127) / 64 * 64);
        memset(d->at[i], 0xee, (d->bytes[i] + 127) / 64 * 64);
        if (!b->written) fill(d->at[i], n, b->dtype);
    }
}

static void data_close(data *d) {
    for (int i = 0; i < d->count; i++) free(d->at[i]);
}

static int last_output(const kit *t) {
    for (int i = (int)t->g.buffer.count - 1; i >= 0; i--)
        if (t->g.buffer.at[i].place == TC__BUF_NODE) return i;
    return 0;
}

static void compare(const test_case *c, const kit *t, const data *d, const char *with) {
    int o = last_output(t), dtype = t->g.buffer.at[o].dtype;
    int64_t n = evaluate(t, t->g.buffer.at[o].numel, d), wrong = -1;
    double *want = (double *)calloc((size_t)n + 1, sizeof *want);
    char text[200];
    c->reference(d, want);
    for (int64_t i = 0; i < n && wrong < 0; i++) {
        tc__value v = tc__value_load(d->at[o], i, dtype);
        double x = tc__is_float(dtype) ? v.f : (double)v.i;
        if (!(ref_fabs(x - want[i]) <= c->tolerance * ref_fmax(1, ref_fabs(want[i]))))
            wrong = i;
        if (wrong == i)
            snprintf(text, sizeof text, "%.60s [%lld] is %.9g, not %.9g", with,
                     (long long)i, x, want[i]);
    }
    check(wrong < 0, c->name, wrong < 0 ? "" : text);
    const uint8_t *guard = (const uint8_t *)d->at[o] + d->bytes[o];
    check(guard[0] == 0xee && guard[1] == 0xee && guard[31] == 0xee, c->name,
          "wrote past the end");
    free(want);
}

// Runs the kernel in two worker ranges; the digest of its outputs comes back.
static uint64_t run(const test_case *c, const kit *t, kernel_fn f, const char *with) {
    data d;
    kargs a;
    void *scratch[1];
    int64_t packed[TC__PACKED] = {0};
    uint64_t digest = 0;
    data_open(&d, t);
    memset(&a, 0, sizeof a);
    int64_t items = evaluate(t, t->g.shape.items, &d),
            bytes = evaluate(t, t->g.shape.scratch, &d);
    scratch[0] = aligned_alloc(64, (size_t)(bytes + 127) / 64 * 64);
    a.buf = d.at, a.size = d.size, a.arg = d.arg, a.scratch = scratch, a.flag = d.flag,
    a.seed = 7, a.turn = 1, a.packed = packed;
    f(&a, 0, items / 2, 0);
    f(&a, items / 2, items, 0);
    compare(c, t, &d, with);
    if (!strcmp(c->name, "gather"))
        check(d.flag[0] >= 8 && d.flag[2] == TABLE, c->name, "no flag");
    for (int i = 0; i < d.count; i++)
        if (d.at[i]) digest = tc__hash64(d.at[i], d.bytes[i], digest);
    free(scratch[0]);
    data_close(&d);
    return digest;
}

enum { CASES = (int)TC__COUNT(cases) };

static void open_kit(kit *t, tc_ctx *c, tc__ixpool *x, const test_case *test) {
    memset(t, 0, sizeof *t);
    t->ctx = c, t->ix = x;
    tc__graph_open(&t->g.body, c, x);
    test->build(t);
}

static void close_kit(kit *t) {
    TC__VEC_FREE(t->ctx, t->g.buffer);
    tc__graph_close(&t->g.body);
}

// What the kernels are compiled for.
typedef struct form {
    const char *name, *flags;
    tc__emit target;
    int lanes;
    unsigned cpu;
} form;

#define AVX512 "-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl"

static const form forms[] = {
    {"avx2", "-mavx2 -mfma -mf16c", TC__EMIT_AVX2, 8, TC__CPU_WIDE},
    {"plain", "", TC__EMIT_PLAIN, 8, 0},
    {"avx512_16", AVX512, TC__EMIT_AVX512, 16, TC__CPU_AVX512F},
    {"avx512_8", AVX512, TC__EMIT_AVX512, 8, TC__CPU_AVX512F},
    {"avx2_4", "-mavx2 -mfma -mf16c", TC__EMIT_AVX2, 4, TC__CPU_WIDE},
    {"plain_4", "", TC__EMIT_PLAIN, 4, 0},
};

// Products of 4 bytes have no vectors of four.
static int has_lanes(const tc__group *g, int lanes) {
    return lanes > 4 || g->shape.kind != TC__CONTRACTION ||
           tc__dtypes[tc__product_dtype(g)].bytes == 8;
}

static void set_lanes(kit *kits, int lanes) {
    for (int i = 0; i < CASES; i++) {
        if (!has_lanes(&kits[i].g, lanes)) continue;
        kits[i].g.shape.lanes = lanes;
        if (kits[i].g.shape.kind == TC__CONTRACTION) tc__contract_items(&kits[i].g);
    }
}

static void write_unit(tc__text *out, kit *kits, const form *with) {
    const tc__group *groups[CASES];
    const char *names[CASES];
    char name[CASES][64];
    int count = 0;
    for (int i = 0; i < CASES; i++) {
        if (!has_lanes(&kits[i].g, with->lanes)) continue;
        snprintf(name[count], sizeof name[count], "tck_%s", cases[i].name);
        groups[count] = &kits[i].g, names[count] = name[count];
        count++;
    }
    check(tc__print_unit(out, groups, names, count, with->target), "unit", "failed");
}

// What is chosen for each: elements of 8 bytes do not take two registers.
static void test_choice(const kit *kits) {
    for (int i = 0; i < CASES; i++) {
        const tc__group *g = &kits[i].g;
        int wide = 0, narrow = 0;
        for (size_t k = 0; k < g->buffer.count; k++)
            *(tc__dtypes[g->buffer.at[k].dtype].bytes == 8 ? &wide : &narrow) += 1;
        if (wide && narrow) continue;
        check(tc__choose_lanes(g, TC__EMIT_AVX2) == (wide ? 4 : 8), cases[i].name, "avx2");
        check(!wide || tc__choose_lanes(g, TC__EMIT_AVX512) == 8, cases[i].name, "avx512");
    }
}

// Sources for tests/tools/nvrtc_check.
static void write_cuda(const char *folder, kit *kits, tc_ctx *c) {
    const tc__group *groups[CASES];
    char name[300];
    int count = 0;
    tc__text text;
    tc__text_init(&text, c);
    for (int i = 0; i < CASES; i++) {
        const tc__group *g = &kits[i].g;
        // For devices no schedule puts a reduction behind a product, into its kernel.
        int none = g->shape.kind == TC__CONTRACTION && tc__contract_phases(g) > 1;
        if (strcmp(cases[i].name, "random") && !none) groups[count++] = g;
    }
    check(tc__print_cuda_prelude(&text, groups, count), "cuda prelude", "failed");
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "tck_%d", i);
        check(tc__print_kernel(&text, groups[i], &tc__dialect_cuda, name), name, "failed");
    }
    snprintf(name, sizeof name, "%s/k.cu", folder);
    FILE *f = fopen(name, "wb");
    check(f && fwrite(text.at, 1, text.size, f) == text.size && !fclose(f), name,
          "not written");
    tc__text_free(&text);
}

static const char *const compilers[] = {"gcc -O1 -fno-tree-ccp -fno-tree-dominator-opts",
                                        "clang -O1 -fno-unroll-loops"};

static void *build(const char *folder, const tc__text *text, int compiler,
                   const form *with) {
    char path[300], command[1200];
    snprintf(path, sizeof path, "%s/k_%s.c", folder, with->name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(text->at, 1, text->size, f) != text->size || fclose(f)) return NULL;
    snprintf(
        command, sizeof command,
        "%s %s -std=gnu11 -Wall -Wextra -Werror -Wno-psabi -ffp-contract=off -fwrapv "
        "-fno-math-errno -fno-trapping-math -fPIC -shared -nostdlib -o %s/k%d_%s.so %s",
        compilers[compiler], with->flags, folder, compiler, with->name, path);
    if (system(command)) {
        check(0, "build", command);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/k%d_%s.so", folder, compiler, with->name);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so) check(0, "dlopen", dlerror());
    return so;
}

static void run_all(void *so, kit *kits, uint64_t *digests, int lanes, const char *with) {
    char name[64];
    for (int i = 0; i < CASES; i++) {
        void *symbol;
        kernel_fn f;
        if (!has_lanes(&kits[i].g, lanes)) continue;
        snprintf(name, sizeof name, "tck_%s", cases[i].name);
        symbol = dlsym(so, name);
        memcpy(&f, &symbol, sizeof f);
        if (!f) {
            check(0, name, "missing");
            continue;
        }
        uint64_t digest = run(&cases[i], &kits[i], f, with);
        if (!digests[i]) digests[i] = digest;
        check(digests[i] == digest, cases[i].name, with);
    }
}

// Sizes known only at run time give the bits of fixed ones.
static void same_bits(const uint64_t *digests, const char *a, const char *b) {
    uint64_t x = 0, y = 0;
    for (int i = 0; i < CASES; i++) {
        if (!strcmp(cases[i].name, a)) x = digests[i];
        if (!strcmp(cases[i].name, b)) y = digests[i];
    }
    check(x == y, a, b);
}

static int have(const char *command) {
    char line[300];
    snprintf(line, sizeof line, "%s --version > /dev/null 2>&1", command);
    return system(line) == 0;
}

int main(int count, char **args) {
    static tc_ctx ctx;
    static kit kits[CASES];
    static uint64_t digests[CASES];
    static tc__ixpool pools[CASES];
    char folder[] = "/tmp/tc_print_XXXXXX", line[400];
    if (!open_libm()) return 77;
    const char *keep = count > 1 ? args[1] : mkdtemp(folder);
    for (int i = 0; i < CASES; i++) {
        tc__ix_open(&pools[i], &ctx);
        open_kit(&kits[i], &ctx, &pools[i], &cases[i]);
    }
    write_cuda(keep, kits, &ctx);
    test_choice(kits);
    for (const form *with = forms; with < forms + TC__COUNT(forms); with++) {
        tc__text text, again;
        tc__text_init(&text, &ctx);
        tc__text_init(&again, &ctx);
        set_lanes(kits, with->lanes);
        write_unit(&text, kits, with);
        write_unit(&again, kits, with);
        check(text.size == again.size && !memcmp(text.at, again.at, text.size), "text",
              "differs");
        for (int compiler = 0; compiler < 2; compiler++) {
            if (!have(compiler ? "clang" : "gcc")) continue;
            if ((tc__cpu_features() & with->cpu) != with->cpu) continue;
            void *so = build(keep, &text, compiler, with);
            snprintf(line, sizeof line, "%s %s", compiler ? "clang" : "gcc", with->name);
            if (so) run_all(so, kits, digests, with->lanes, line);
            if (so) dlclose(so);
        }
        tc__text_free(&text);
        tc__text_free(&again);
    }
    same_bits(digests, "softmax", "softmax_any");
    same_bits(digests, "product_4", "product_9");
    same_bits(digests, "product_3", "product_10");
    for (int i = 0; i < CASES; i++) close_kit(&kits[i]), tc__ix_close(&pools[i]);
    if (tc__core_of(&ctx)->error_item) printf("error: %s\n", tc__core_of(&ctx)->error_text);
    check(tc__core_of(&ctx)->bytes == 0, "memory", "leaked");
    snprintf(line, sizeof line, "rm -rf %s", folder);
    if (count < 2 && system(line)) return 1;
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
