// Unit tests of gen/exec/interp*.c: LOOP lists built by hand, run by both instruction
// sets, against plain references. C only (vector types). Timings with: interp bench
//   cc -std=c99 -Igen tests/unit/interp.c -lpthread -ldl
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE 1
#endif
#include "api/config.h"

#include "out/status.inc"

#include "out/dtype_enum.inc"

#include "api/context.h"
#include "api/tensor.h"
#include "api/device.h"
#include "api/spec.h"
#include "api/options.h"
#include "api/compile.h"
#include "api/extend.h"

#include "base/prelude.c"

#include "base/error.c"

#include "base/mem.c"

#include "base/text.c"

#include "base/hash.c"

#include "base/cpu.c"
#include "base/os.c"

#include "base/process.c"

#include "value/dtype.c"

#include "value/ix_pool.c"

#include "value/ix.c"
#include "value/ix_walk.c"

#include "value/buffer.c"

#include "graph/node.c"

#include "graph/custom.c"
#include "graph/infer.c"
#include "graph/shape.c"

#include "kernel/group.c"

#include "kernel/part.c"

#include "kernel/access.c"

#include "exec/interp_block.c"

#include "exec/interp_isa.c"

#include "exec/interp_index.c"

#include "exec/interp_rect.c"

#include "exec/interp_access.c"

#include "exec/interp.c"

#include "exec/interp_choose.c"
#include "exec/interp_turn.c"

#include "exec/interp_contract.c"

#include "exec/interp_plan_index.c"

#include "exec/interp_plan_regs.c"

#include "exec/interp_plan_choose.c"
#include "exec/interp_plan.c"

#include <math.h>

#include "halves.h"

struct tc_ctx {
    tc__values values;
};

static int passed, failed;

static void check(int ok, const char *what, int line) {
    passed += ok;
    failed += !ok;
    if (!ok) printf("FAIL line %d: %s\n", line, what);
}
#define CHECK(cond) check((cond) ? 1 : 0, #cond, __LINE__)

static uint64_t random64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double random_in(uint64_t *state, double lo, double hi) {
    return lo + (hi - lo) * (double)(random64(state) >> 11) * 0x1p-53;
}

// ---- building a kernel

enum { MAX_BUFFERS = 12 };

typedef struct kernel {
    tc_ctx ctx;
    tc__ixpool ix;
    tc__group g;
    tc__ix r, c, k;
    void *memory[MAX_BUFFERS]; // owned; what the scalar run made is kept in `other`
    void *other[MAX_BUFFERS];
    int64_t numel[MAX_BUFFERS];
    int64_t flag[3];
    int64_t size[4];
    double arg[4];
    uint16_t phase;
} kernel;

static void open_kernel(kernel *q, tc__group_kind kind, tc__axis vector, tc__ix rows,
                        tc__ix cols) {
    q->g.shape.kind = kind, q->g.shape.vector = vector;
    q->g.shape.rows = rows, q->g.shape.cols = cols;
    q->r = tc__ix_var(&q->ix, TC__ROW, rows);
    q->c = tc__ix_var(&q->ix, TC__COL, cols);
}

static kernel *new_kernel(void) {
    kernel *q = (kernel *)calloc(1, sizeof *q);
    tc__ix_open(&q->ix, &q->ctx);
    tc__graph_open(&q->g.body, &q->ctx, &q->ix);
    return q;
}

static tc__ix num(int64_t v) { return tc__ix_const(v); }
static tc__ix plus(kernel *q, tc__ix a, tc__ix b) { return tc__ix_add(&q->ix, a, b); }
static tc__ix times(kernel *q, tc__ix a, int64_t b) {
    return tc__ix_mul(&q->ix, a, num(b));
}
// a * width + b
static tc__ix at2(kernel *q, tc__ix a, int64_t width, tc__ix b) {
    return plus(q, times(q, a, width), b);
}

static uint32_t buffer(kernel *q, tc__place place, int dtype, int64_t numel) {
    tc__kbuf b;
    uint32_t i = (uint32_t)q->g.buffer.count;
    memset(&b, 0, sizeof b);
    b.place = place, b.dtype = (uint8_t)dtype, b.numel = num(numel);
    if (!TC__PUSH(&q->ctx, q->g.buffer, b)) abort();
    q->numel[i] = numel;
    if (place == TC__BUF_ROW) return i;
    q->memory[i] = calloc((size_t)numel + !numel, tc__dtype(dtype)->bytes);
    q->other[i] = calloc((size_t)numel + !numel, tc__dtype(dtype)->bytes);
    return i;
}

static uint32_t add_node(kernel *q, tc__op op, int dtype, tc__level level, uint32_t n_in,
                         const uint32_t *in, uint32_t n_attr, const int64_t *attr) {
    tc__node n;
    uint32_t inputs[4];
    int64_t words[12];
    memset(&n, 0, sizeof n);
    for (uint32_t i = 0; i < n_in; i++) inputs[i] = in[i];
    for (uint32_t i = 0; i < n_attr; i++) words[i] = attr[i];
    n.op = (uint16_t)op, n.stage = TC__LOOP, n.dtype = (uint8_t)dtype,
    n.level = (uint8_t)level;
    n.phase = q->phase, n.n_in = n_in, n.n_attr = n_attr, n.in = inputs, n.attr = words;
    return tc__node_append(&q->g.body, &n)->id;
}

static uint32_t op1(kernel *q, tc__op op, int dtype, uint32_t a) {
    return add_node(q, op, dtype, TC__AT_COL, 1, &a, 0, NULL);
}

static uint32_t op2(kernel *q, tc__op op, int dtype, uint32_t a, uint32_t b) {
    uint32_t in[2];
    in[0] = a, in[1] = b;
    return add_node(q, op, dtype, TC__AT_COL, 2, in, 0, NULL);
}

static uint32_t op3(kernel *q, tc__op op, int dtype, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t in[3];
    in[0] = a, in[1] = b, in[2] = c;
    return add_node(q, op, dtype, TC__AT_COL, 3, in, 0, NULL);
}

static uint32_t cast_at(kernel *q, tc__level level, int dtype, uint32_t a) {
    int64_t to = dtype;
    return add_node(q, TC_OP_CAST, dtype, level, 1, &a, 1, &to);
}

static uint32_t cast(kernel *q, int dtype, uint32_t a) {
    return cast_at(q, TC__AT_COL, dtype, a);
}

// The dtype that a kernel computes in: halves are f32 in registers, small integers are i32.
static int computed(int dtype) {
    return dtype == TC_U8 || dtype == TC_I8 || dtype == TC_I16 ? (int)TC_I32 : dtype;
}

static uint32_t widened(kernel *q, tc__level level, int dtype, uint32_t a) {
    return computed(dtype) == dtype ? a : cast_at(q, level, computed(dtype), a);
}

static uint32_t constant(kernel *q, int dtype, double v) {
    tc__value x = tc__value_of(v, dtype);
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return add_node(q, TC_OP_CONST, dtype, TC__AT_ROW, 0, NULL, 1, &bits);
}

static uint32_t load_at(kernel *q, tc__level level, uint32_t b, tc__ix e) {
    int64_t attr[3];
    attr[0] = b, attr[1] = e, attr[2] = 0;
    return add_node(q, TC_OP_LOAD, q->g.buffer.at[b].dtype, level, 0, NULL, 3, attr);
}

static uint32_t load(kernel *q, uint32_t b, tc__ix e) {
    return load_at(q, TC__AT_COL, b, e);
}

// fill where not 0 <= e1 < n1 (and 0 <= e2 < n2 unless n2 is 0)
static uint32_t load_if(kernel *q, uint32_t b, tc__ix e, double fill, tc__ix e1, tc__ix n1,
                        tc__ix e2, tc__ix n2) {
    int64_t attr[7];
    tc__value x = tc__value_of(fill, q->g.buffer.at[b].dtype);
    attr[0] = b, attr[1] = e, attr[3] = e1, attr[4] = n1, attr[5] = e2, attr[6] = n2;
    memcpy(&attr[2], &x, sizeof x);
    return add_node(q, TC_OP_LOAD, q->g.buffer.at[b].dtype, TC__AT_COL, 0, NULL, n2 ? 7 : 5,
                    attr);
}

static void store(kernel *q, uint32_t b, tc__ix e, uint32_t v) {
    int64_t attr[3];
    attr[0] = b, attr[1] = e, attr[2] = 0;
    (void)add_node(q, TC_OP_STORE, q->g.buffer.at[b].dtype, TC__AT_COL, 1, &v, 3, attr);
}

static void loop(kernel *q, tc__axis axis, tc__bind bind, int64_t chunk, tc__ix end) {
    int64_t attr[6];
    attr[0] = axis, attr[1] = bind, attr[2] = 4, attr[3] = chunk, attr[4] = num(0);
    attr[5] = end;
    (void)add_node(q, TC_OP_FOR, TC_I64, TC__AT_ROW, 0, NULL, 6, attr);
}

static void end(kernel *q, tc__axis axis) {
    int64_t a = axis;
    (void)add_node(q, TC_OP_END, TC_I64, TC__AT_ROW, 0, NULL, 1, &a);
}

static void fresh(kernel *q, int64_t acc, tc__op op, int dtype) {
    int64_t attr[2];
    attr[0] = acc, attr[1] = op;
    (void)add_node(q, TC_OP_NEW, dtype, TC__AT_ROW, 0, NULL, 2, attr);
}

static void gather_into(kernel *q, int64_t acc, tc__op op, uint32_t v) {
    int64_t attr[2];
    attr[0] = op, attr[1] = acc;
    (void)add_node(q, TC_OP_ACC, q->g.body.node.at[v]->dtype, TC__AT_COL, 1, &v, 2, attr);
}

static uint32_t combine(kernel *q, int64_t acc, tc__op op, int dtype) {
    int64_t attr[2];
    attr[0] = acc, attr[1] = op;
    return add_node(q, TC_OP_COMBINE, dtype, TC__AT_ROW, 0, NULL, 2, attr);
}

// ---- running

static int timing; // print how long the items take

static double seconds(void) { return (double)tc__now_ns() * 1e-9; }

static void time_run(const kernel *q, const tc__interp *p, const tc__kargs *a,
                     int64_t items) {
    double best = 1e9;
    for (int t = 0; t < 5; t++) {
        double at = seconds();
        tc__interp_run(p, a, 0, items, 0);
        at = seconds() - at;
        best = at < best ? at : best;
    }
    printf("  %-8s block %4lld  %9.4f ms  %7.3f ns/element\n", p->isa->name,
           (long long)p->block, best * 1e3,
           best * 1e9 /
               (double)(tc__ix_value(q->g.shape.rows) * tc__ix_value(q->g.shape.cols)));
}

// Runs items [0, items) in two pieces. `other` gets the buffers of the scalar set first.
static int run_on(kernel *q, const tc__isa *isa, int64_t items) {
    tc__interp *p = tc__interp_prepare_for(&q->ctx, &q->g, isa);
    tc__kargs a;
    void *scratch;
    size_t bytes, allocations;
    if (!p) {
        printf("%s\n", tc__core_of(&q->ctx)->error_text);
        return 0;
    }
    bytes = tc__interp_scratch_bytes(p, q->size);
    scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(scratch, 0xff, bytes);
    memset(&a, 0, sizeof a);
    a.buf = q->memory, a.size = q->size, a.arg = q->arg, a.scratch = &scratch;
    a.flag = q->flag, a.seed = 42, a.draw = 7;
    allocations = (size_t)tc__core_of(&q->ctx)->allocations;
    tc__interp_run(p, &a, 0, items / 2, 0);
    tc__interp_run(p, &a, items / 2, items, 0);
    CHECK((size_t)tc__core_of(&q->ctx)->allocations == allocations);
    if (timing && isa != &tc__isa_scalar) time_run(q, p, &a, items);
    free(scratch);
    tc__interp_free(p);
    return 1;
}

static half_format format_of(int dtype) { return dtype == TC_F16 ? half_f16 : half_bf16; }

static int same_float(const kernel *q, uint32_t b, int64_t i) {
    int dtype = q->g.buffer.at[b].dtype;
    if (dtype == TC_F16 || dtype == TC_BF16)
        return half_same(format_of(dtype), ((uint16_t *)q->memory[b])[i],
                         ((uint16_t *)q->other[b])[i]);
    if (q->g.buffer.at[b].dtype == TC_F32) {
        float x = ((float *)q->memory[b])[i], y = ((float *)q->other[b])[i];
        return x != x && y != y;
    }
    double x = ((double *)q->memory[b])[i], y = ((double *)q->other[b])[i];
    return x != x && y != y;
}

// Scalar and vector results: the same bits, any NaN equal to any NaN.
static int same_bits(const kernel *q, uint32_t b) {
    int dtype = q->g.buffer.at[b].dtype;
    size_t n = tc__dtype(dtype)->bytes;
    for (int64_t i = 0; i < q->numel[b]; i++) {
        size_t at = (size_t)i * n;
        if (!memcmp((char *)q->memory[b] + at, (char *)q->other[b] + at, n)) continue;
        if (tc__is_float(dtype) && same_float(q, b, i)) continue;
        printf("buffer %u element %lld differs\n", b, (long long)i);
        return 0;
    }
    return 1;
}

static void run(kernel *q, int64_t items, int line) {
    uint32_t n = (uint32_t)q->g.buffer.count;
    check(run_on(q, &tc__isa_scalar, items), "scalar run", line);
    for (uint32_t b = 0; b < n; b++) {
        if (q->memory[b])
            memcpy(q->other[b], q->memory[b],
                   (size_t)q->numel[b] * tc__dtype(q->g.buffer.at[b].dtype)->bytes);
    }
    if (tc__isa_best(tc__cpu_features()) == &tc__isa_scalar) return;
    for (uint32_t b = 0; b < n; b++) {
        if (q->memory[b] && q->g.buffer.at[b].written)
            memset(q->memory[b], 0x5a,
                   (size_t)q->numel[b] * tc__dtype(q->g.buffer.at[b].dtype)->bytes);
    }
    check(run_on(q, tc__isa_best(tc__cpu_features()), items), "vector run", line);
    for (uint32_t b = 0; b < n; b++)
        if (q->memory[b]) check(same_bits(q, b), "scalar and vector bits", line);
}
#define RUN(q, items) run(q, items, __LINE__)

static void free_kernel(kernel *q) {
    for (int i = 0; i < MAX_BUFFERS; i++) free(q->memory[i]), free(q->other[i]);
    TC__VEC_FREE(&q->ctx, q->g.buffer);
    tc__graph_close(&q->g.body);
    tc__ix_close(&q->ix);
    CHECK(tc__core_of(&q->ctx)->bytes == 0);
    free(q);
}

static uint32_t input(kernel *q, int dtype, int64_t n, double lo, double hi) {
    uint32_t b = buffer(q, TC__BUF_INPUT, dtype, n);
    uint64_t seed = 77 + b;
    for (int64_t i = 0; i < n; i++)
        tc__value_store(q->memory[b], i, dtype,
                        tc__value_of(random_in(&seed, lo, hi), dtype));
    return b;
}

static uint32_t output(kernel *q, int dtype, int64_t n) {
    uint32_t b = buffer(q, TC__BUF_NODE, dtype, n);
    q->g.buffer.at[b].written = 1;
    return b;
}

static float *f32_of(const kernel *q, uint32_t b) { return (float *)q->memory[b]; }
static double value(const kernel *q, uint32_t b, int64_t i) {
    int dtype = q->g.buffer.at[b].dtype;
    tc__value v = tc__value_load(q->memory[b], i, dtype);
    return tc__is_float(dtype) ? v.f : (double)v.i;
}

static int near(double got, double want, double tolerance) {
    if (want != want) return got != got;
    if (got == want) return 1;
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

// ---- the 32-lane reduction, as the contract says it

typedef float (*fold_fn)(float a, float b);
static float fold_add(float a, float b) { return a + b; }
static float fold_max(float a, float b) { return a > b || a != a ? a : b; }

static float fold_lanes(float *v, fold_fn f) {
    for (int half = 16; half; half /= 2)
        for (int l = 0; l < half; l++) v[l] = f(v[l], v[l + half]);
    return v[0];
}

static float reduce(const float *x, int64_t n, int64_t step, float identity, fold_fn f) {
    float lanes[32], chunks[32];
    for (int l = 0; l < 32; l++) lanes[l] = chunks[l] = identity;
    for (int64_t i = 0; i < n; i++) {
        lanes[i % 32] = f(lanes[i % 32], x[i * step]);
        if (n <= 8192 || ((i + 1) % 8192 && i + 1 < n)) continue;
        int64_t at = i / 8192 % 32;
        chunks[at] = f(chunks[at], fold_lanes(lanes, f));
        for (int l = 0; l < 32; l++) lanes[l] = identity;
    }
    return fold_lanes(n > 8192 ? chunks : lanes, f);
}

// ---- tests

static void test_pointwise(int64_t n) {
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, n, -4, 4), j = input(q, TC_I32, n, -50, 50);
    uint32_t u = input(q, TC_U8, n, 0, 256);
    uint32_t y = output(q, TC_F32, n), w = output(q, TC_U8, n), m = output(q, TC_BOOL, n);
    uint32_t d = output(q, TC_F64, n), l = output(q, TC_I64, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    uint32_t half = constant(q, TC_F32, 0.5), hundred = constant(q, TC_I32, 100);
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    uint32_t vx = load(q, x, q->c), vj = load(q, j, q->c);
    uint32_t vu = cast(q, TC_I32, load(q, u, q->c));
    uint32_t big = op2(q, TC_OP_GT, TC_BOOL, vu, hundred);
    uint32_t a =
        op2(q, TC_OP_ADD, TC_F32, op2(q, TC_OP_MUL, TC_F32, cast(q, TC_F32, vj), vx), half);
    store(q, y, q->c,
          op3(q, TC_OP_WHERE, TC_F32, big, a, op1(q, TC_OP_SQUARE, TC_F32, vx)));
    store(q, w, q->c, cast(q, TC_U8, op2(q, TC_OP_ADD, TC_I32, vu, vu)));
    store(q, m, q->c, op1(q, TC_OP_LOGICAL_NOT, TC_BOOL, big));
    store(q, d, q->c,
          op1(q, TC_OP_SQRT, TC_F64, op1(q, TC_OP_ABS, TC_F64, cast(q, TC_F64, vx))));
    store(q, l, q->c, op2(q, TC_OP_MUL, TC_I64, cast(q, TC_I64, vj), cast(q, TC_I64, vu)));
    end(q, TC__COL);
    q->g.shape.grain = 1024;
    RUN(q, (n + 1023) / 1024);
    int bad = 0;
    for (int64_t i = 0; i < n; i++) {
        float xi = f32_of(q, x)[i];
        double ji = value(q, j, i), ui = value(q, u, i);
        volatile float product = (float)ji * xi; // the compiler may not make it an fma
        bad += value(q, y, i) != (double)(ui > 100 ? product + 0.5f : xi * xi);
        bad += value(q, w, i) != (double)(((int)ui * 2) & 255);
        bad += value(q, m, i) != (double)!(ui > 100);
        bad += value(q, d, i) != sqrt(fabs((double)xi));
        bad += value(q, l, i) != ji * ui;
    }
    CHECK(bad == 0);
    free_kernel(q);
}

static void test_softmax(int64_t rows, int64_t cols) {
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, rows * cols, -8, 8), y = output(q, TC_F32, rows * cols);
    uint32_t row = buffer(q, TC__BUF_ROW, TC_F32, cols);
    open_kernel(q, TC__REDUCTION, TC__COL, num(rows), num(cols));
    tc__ix e = at2(q, q->r, cols, q->c);
    int64_t chunk = cols > 8192 ? 8192 : 0;
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    fresh(q, 0, TC_OP_MAXIMUM, TC_F32);
    loop(q, TC__COL, TC__BIND_VECTOR, chunk, num(cols));
    gather_into(q, 0, TC_OP_MAXIMUM, load(q, x, e));
    end(q, TC__COL);
    uint32_t top = combine(q, 0, TC_OP_MAXIMUM, TC_F32);
    fresh(q, 1, TC_OP_ADD, TC_F32);
    loop(q, TC__COL, TC__BIND_VECTOR, chunk, num(cols));
    uint32_t v = op1(q, TC_OP_EXP, TC_F32, op2(q, TC_OP_SUB, TC_F32, load(q, x, e), top));
    store(q, row, q->c, v);
    gather_into(q, 1, TC_OP_ADD, v);
    end(q, TC__COL);
    uint32_t sum = combine(q, 1, TC_OP_ADD, TC_F32);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    store(q, y, e, op2(q, TC_OP_DIV, TC_F32, load(q, row, q->c), sum));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    for (int64_t r = 0; r < rows; r++) {
        const float *p = f32_of(q, x) + r * cols;
        double most = (double)reduce(p, cols, 1, -INFINITY, fold_max), all = 0;
        for (int64_t c = 0; c < cols; c++) all += exp((double)p[c] - most);
        for (int64_t c = 0; c < cols; c++)
            bad += !near(value(q, y, r * cols + c), exp((double)p[c] - most) / all, 1e-6);
    }
    CHECK(bad == 0);
    free_kernel(q);
}

static void test_layer_norm(int64_t rows, int64_t cols) {
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, rows * cols, -3, 5), y = output(q, TC_F32, rows * cols);
    uint32_t g = input(q, TC_F32, cols, 0.5, 2), means = output(q, TC_F32, rows);
    open_kernel(q, TC__REDUCTION, TC__COL, num(rows), num(cols));
    tc__ix e = at2(q, q->r, cols, q->c);
    uint32_t over = constant(q, TC_F32, 1.0 / (double)cols),
             eps = constant(q, TC_F32, 1e-5);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    fresh(q, 0, TC_OP_ADD, TC_F32);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    gather_into(q, 0, TC_OP_ADD, load(q, x, e));
    end(q, TC__COL);
    uint32_t mean = op2(q, TC_OP_MUL, TC_F32, combine(q, 0, TC_OP_ADD, TC_F32), over);
    store(q, means, q->r, mean);
    fresh(q, 1, TC_OP_ADD, TC_F32);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    uint32_t d = op2(q, TC_OP_SUB, TC_F32, load(q, x, e), mean);
    gather_into(q, 1, TC_OP_ADD, op1(q, TC_OP_SQUARE, TC_F32, d));
    end(q, TC__COL);
    uint32_t var = op2(q, TC_OP_MUL, TC_F32, combine(q, 1, TC_OP_ADD, TC_F32), over);
    uint32_t scale = op1(q, TC_OP_RSQRT, TC_F32, op2(q, TC_OP_ADD, TC_F32, var, eps));
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    uint32_t z =
        op2(q, TC_OP_MUL, TC_F32, op2(q, TC_OP_SUB, TC_F32, load(q, x, e), mean), scale);
    store(q, y, e, op2(q, TC_OP_MUL, TC_F32, z, load(q, g, q->c)));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    for (int64_t r = 0; r < rows; r++) {
        const float *p = f32_of(q, x) + r * cols;
        double m = 0, s = 0;
        for (int64_t c = 0; c < cols; c++) m += (double)p[c] / (double)cols;
        for (int64_t c = 0; c < cols; c++) s += ((double)p[c] - m) * ((double)p[c] - m);
        s = 1 / sqrt(s / (double)cols + 1e-5);
        bad += !near(value(q, means, r), m, 1e-5);
        for (int64_t c = 0; c < cols; c++)
            bad += !near(value(q, y, r * cols + c), ((double)p[c] - m) * s * value(q, g, c),
                         1e-5);
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// Sum over the leading dimension: vectors of rows. Then x - sum, through the scratch of
// the row.
static void test_column_sum(int64_t rows, int64_t cols) {
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, rows * cols, -3, 5), y = output(q, TC_F32, rows);
    uint32_t z = output(q, TC_F32, rows * cols);
    uint32_t keep = cols <= 300 ? buffer(q, TC__BUF_ROW, TC_F32, cols) : 0;
    open_kernel(q, TC__REDUCTION, TC__ROW, num(rows), num(cols));
    tc__ix e = at2(q, q->c, rows, q->r);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    fresh(q, 0, TC_OP_ADD, TC_F32);
    loop(q, TC__COL, TC__BIND_SERIAL, 8192, num(cols));
    uint32_t v = load(q, x, e);
    gather_into(q, 0, TC_OP_ADD, v);
    if (keep) store(q, keep, q->c, op1(q, TC_OP_NEG, TC_F32, v));
    end(q, TC__COL);
    uint32_t sum = combine(q, 0, TC_OP_ADD, TC_F32);
    store(q, y, q->r, sum);
    loop(q, TC__COL, TC__BIND_SERIAL, 0, num(cols));
    uint32_t again = keep ? load(q, keep, q->c) : op1(q, TC_OP_NEG, TC_F32, load(q, x, e));
    store(q, z, e, op2(q, TC_OP_ADD, TC_F32, again, sum));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, (rows + 31) / 32);
    int bad = 0;
    for (int64_t r = 0; r < rows; r++) {
        float want = reduce(f32_of(q, x) + r, cols, rows, 0, fold_add);
        bad += f32_of(q, y)[r] != want;
        for (int64_t c = 0; c < cols; c++)
            bad += f32_of(q, z)[c * rows + r] != want - f32_of(q, x)[c * rows + r];
    }
    CHECK(bad == 0);
    free_kernel(q);
}

static void test_row_sum(int64_t rows, int64_t cols) {
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, rows * cols, -3, 5), y = output(q, TC_F32, rows);
    uint32_t u = input(q, TC_U8, rows * cols, 0, 256), w = output(q, TC_U8, rows);
    uint32_t all = output(q, TC_BOOL, rows), most = output(q, TC_F64, rows);
    open_kernel(q, TC__REDUCTION, TC__COL, num(rows), num(cols));
    tc__ix e = at2(q, q->r, cols, q->c);
    uint32_t limit = constant(q, TC_F32, 4.9999);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    fresh(q, 0, TC_OP_ADD, TC_F32), fresh(q, 1, TC_OP_ADD, TC_I32);
    fresh(q, 2, TC_OP_LOGICAL_AND, TC_BOOL), fresh(q, 3, TC_OP_MAXIMUM, TC_F64);
    loop(q, TC__COL, TC__BIND_VECTOR, 8192, num(cols));
    uint32_t v = load(q, x, e);
    gather_into(q, 0, TC_OP_ADD, v);
    gather_into(q, 1, TC_OP_ADD, cast(q, TC_I32, load(q, u, e)));
    gather_into(q, 2, TC_OP_LOGICAL_AND, op2(q, TC_OP_LT, TC_BOOL, v, limit));
    gather_into(q, 3, TC_OP_MAXIMUM, cast(q, TC_F64, v));
    end(q, TC__COL);
    store(q, y, q->r, combine(q, 0, TC_OP_ADD, TC_F32));
    store(q, w, q->r, cast(q, TC_U8, combine(q, 1, TC_OP_ADD, TC_I32)));
    store(q, all, q->r, combine(q, 2, TC_OP_LOGICAL_AND, TC_BOOL));
    store(q, most, q->r, combine(q, 3, TC_OP_MAXIMUM, TC_F64));
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    for (int64_t r = 0; r < rows; r++) {
        const float *p = f32_of(q, x) + r * cols;
        int sum = 0, below = 1;
        for (int64_t c = 0; c < cols; c++) {
            sum += (int)value(q, u, r * cols + c);
            below &= p[c] < 4.9999f;
        }
        bad += f32_of(q, y)[r] != reduce(p, cols, 1, 0, fold_add);
        bad += (int)value(q, w, r) != (sum & 255);
        bad += (int)value(q, all, r) != below;
        bad += value(q, most, r) != (double)reduce(p, cols, 1, -INFINITY, fold_max);
    }
    CHECK(bad == 0);
    free_kernel(q);
}

static int64_t arg_reference(const kernel *q, uint32_t x, int64_t first, int64_t step,
                             int64_t n, int less) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        double v = value(q, x, first + i * step), b = value(q, x, first + best * step);
        if (b == b && (v != v || (less ? v < b : v > b))) best = i;
    }
    return best;
}

static void test_arg(int dtype, int64_t rows, int64_t cols, int along_rows, int less) {
    kernel *q = new_kernel();
    uint32_t x = input(q, dtype, rows * cols, -6, 6), y = output(q, TC_I64, rows);
    for (int64_t i = 0; i < rows * cols; i++) {
        tc__value v = tc__value_load(q->memory[x], i, dtype);
        if (tc__is_float(dtype)) v.f = i % 97 == 96 && i < cols ? (double)NAN : floor(v.f);
        tc__value_store(q->memory[x], i, dtype, v);
    }
    tc__op op = less ? TC_OP_ARGMIN : TC_OP_ARGMAX;
    open_kernel(q, TC__REDUCTION, along_rows ? TC__ROW : TC__COL, num(rows), num(cols));
    tc__ix e = along_rows ? at2(q, q->c, rows, q->r) : at2(q, q->r, cols, q->c);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    fresh(q, 0, op, computed(dtype));
    loop(q, TC__COL, along_rows ? TC__BIND_SERIAL : TC__BIND_VECTOR, cols > 8192 ? 8192 : 0,
         num(cols));
    gather_into(q, 0, op, widened(q, TC__AT_COL, dtype, load(q, x, e)));
    end(q, TC__COL);
    store(q, y, q->r, combine(q, 0, op, TC_I64));
    end(q, TC__ROW);
    RUN(q, along_rows ? (rows + 31) / 32 : rows);
    int bad = 0;
    for (int64_t r = 0; r < rows && cols; r++)
        bad += (int64_t)value(q, y, r) != arg_reference(q, x, along_rows ? r : r * cols,
                                                        along_rows ? rows : 1, cols, less);
    CHECK(bad == 0);
    if (!cols) CHECK(value(q, y, 0) == 0);
    free_kernel(q);
}

// Rows of a table by a row value (contiguous), then single elements by a lane value.
static void test_gather(void) {
    const int64_t rows = 40, cols = 50, table_rows = 17;
    kernel *q = new_kernel();
    uint32_t table = input(q, TC_F32, table_rows * cols, -1, 1);
    uint32_t bytes = input(q, TC_U8, cols, 0, 256);
    uint32_t at = input(q, TC_I32, rows, -17, 17), y = output(q, TC_F32, rows * cols);
    uint32_t at_col = input(q, TC_I64, cols, -50, 50), z = output(q, TC_U8, rows * cols);
    ((int32_t *)q->memory[at])[7] = 99;
    ((int32_t *)q->memory[at])[8] = -18;
    open_kernel(q, TC__POINTWISE, TC__COL, num(rows), num(cols));
    int64_t attr[2];
    attr[0] = num(table_rows), attr[1] = 5;
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    uint32_t i = cast(q, TC_I64, load_at(q, TC__AT_ROW, at, q->r));
    uint32_t safe = add_node(q, TC_OP_CHECK, TC_I64, TC__AT_ROW, 1, &i, 2, attr);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    tc__ix e = at2(q, q->r, cols, q->c), row = tc__ix_val(&q->ix, safe, num(table_rows));
    store(q, y, e, load(q, table, at2(q, row, cols, q->c)));
    attr[0] = num(cols), attr[1] = 6;
    uint32_t j = load(q, at_col, q->c);
    uint32_t lane = add_node(q, TC_OP_CHECK, TC_I64, TC__AT_COL, 1, &j, 2, attr);
    store(q, z, e, load(q, bytes, tc__ix_val(&q->ix, lane, num(cols))));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t t = (int64_t)value(q, at, r);
        t = t < 0 ? t + table_rows : t;
        t = t < 0 ? 0 : t >= table_rows ? table_rows - 1 : t;
        for (int64_t c = 0; c < cols; c++) {
            int64_t k = (int64_t)value(q, at_col, c);
            bad += value(q, y, r * cols + c) != value(q, table, t * cols + c);
            bad += value(q, z, r * cols + c) != value(q, bytes, k < 0 ? k + cols : k);
        }
    }
    CHECK(bad == 0);
    CHECK(q->flag[0] == 6 && q->flag[1] == -18 && q->flag[2] == table_rows);
    free_kernel(q);
}

// Sum of the four neighbours in a flat image, 0.5 outside; the transpose; a reversed copy.
static void test_stencil(int64_t height, int64_t width) {
    int64_t n = height * width;
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, n, -1, 1), y = output(q, TC_F32, n),
             t = output(q, TC_F32, n);
    uint32_t v = output(q, TC_F32, n), flags = output(q, TC_BOOL, n),
             ids = output(q, TC_I64, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    tc__ix i = tc__ix_div(&q->ix, q->c, num(width)),
           j = tc__ix_mod(&q->ix, q->c, num(width));
    uint32_t sum = constant(q, TC_F32, 0);
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    for (int d = 0; d < 4; d++) {
        tc__ix a = plus(q, i, num(d == 0 ? -1 : d == 1)),
               b = plus(q, j, num(d == 2 ? -1 : d == 3));
        uint32_t near_x =
            load_if(q, x, at2(q, a, width, b), 0.5, a, num(height), b, num(width));
        sum = op2(q, TC_OP_ADD, TC_F32, sum, near_x);
    }
    store(q, y, q->c, sum);
    tc__ix ti = tc__ix_div(&q->ix, q->c, num(height)),
           tj = tc__ix_mod(&q->ix, q->c, num(height));
    store(q, t, q->c, load(q, x, at2(q, tj, width, ti)));
    tc__ix back = tc__ix_sub(&q->ix, num(n - 1), q->c);
    store(q, v, back, load(q, x, q->c));
    int64_t attr[4];
    attr[0] = plus(q, j, num(-2)), attr[1] = num(3), attr[2] = back, attr[3] = num(n - 9);
    store(q, flags, q->c, add_node(q, TC_OP_VALID, TC_BOOL, TC__AT_COL, 0, NULL, 4, attr));
    attr[0] = at2(q, tj, width, ti);
    store(q, ids, q->c, add_node(q, TC_OP_INDEX, TC_I64, TC__AT_COL, 0, NULL, 1, attr));
    end(q, TC__COL);
    q->g.shape.grain = 256;
    RUN(q, (n + 255) / 256);
    const float *p = f32_of(q, x);
    int bad = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t r = e / width, c = e % width, from = e % height * width + e / height;
        float s = 0;
        s += r > 0 ? p[e - width] : 0.5f;
        s += r + 1 < height ? p[e + width] : 0.5f;
        s += c > 0 ? p[e - 1] : 0.5f;
        s += c + 1 < width ? p[e + 1] : 0.5f;
        bad += f32_of(q, y)[e] != s;
        bad += f32_of(q, t)[e] != p[from];
        bad += f32_of(q, v)[e] != p[n - 1 - e];
        bad += value(q, flags, e) != (double)(c >= 2 && c < 5 && n - 1 - e < n - 9);
        bad += value(q, ids, e) != (double)from;
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// `parts` vectors interleaved, every second element of the first alone with a window, and what all of
// them share for `wide` elements: runs of 2 and 3 lanes, and blocks that have one element. The items
// begin anywhere in a run.
static void test_interleaved(int dtype, int64_t parts, int64_t each, int64_t wide,
                             int64_t grain) {
    int64_t n = parts * each, window = each / 2;
    kernel *q = new_kernel();
    uint32_t x[4], few = input(q, dtype, n / wide + 1, -50, 50), y = output(q, dtype, n);
    uint32_t v = output(q, dtype, n), s = output(q, dtype, n),
             flags = output(q, TC_BOOL, n);
    for (int64_t t = 0; t < parts; t++) x[t] = input(q, dtype, each, -50, 50);
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    tc__ix i = tc__ix_div(&q->ix, q->c, num(parts)),
           k = tc__ix_mod(&q->ix, q->c, num(parts));
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    uint32_t all = load_if(q, x[0], i, 0, k, num(1), 0, 0), is = 0;
    for (int64_t t = 1; t < parts; t++) {
        int64_t attr[2];
        attr[0] = plus(q, k, num(-t)), attr[1] = num(1);
        is = add_node(q, TC_OP_VALID, TC_BOOL, TC__AT_COL, 0, NULL, 2, attr);
        uint32_t one = load_if(q, x[t], i, 9, attr[0], num(1), 0, 0);
        all = op3(q, TC_OP_WHERE, dtype, is, one, all);
    }
    uint32_t shared = load(q, few, tc__ix_div(&q->ix, q->c, num(wide)));
    shared = op2(q, TC_OP_ADD, dtype, shared, all); // over `shared`, which ends here
    store(q, s, q->c, op2(q, TC_OP_ADD, dtype, shared, all));
    store(q, y, q->c, all);
    store(q, flags, q->c, is);
    store(q, v, q->c, load_if(q, x[0], i, 7, plus(q, i, num(-3)), num(window), 0, 0));
    end(q, TC__COL);
    q->g.shape.grain = grain;
    RUN(q, (n + grain - 1) / grain);
    int bad = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t at = e / parts, in = at >= 3 && at < window + 3;
        double want = value(q, x[e % parts], at), both = value(q, few, e / wide);
        bad += value(q, y, e) != want;
        bad += value(q, flags, e) != (double)(e % parts == parts - 1);
        bad += value(q, v, e) != (in ? value(q, x[0], at) : 7);
        if (dtype == TC_I32 || dtype == TC_I64) bad += value(q, s, e) != both + want + want;
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// How many instructions of a kernel do this.
static int steps_of(kernel *q, tc__step_fn step) {
    tc__interp *p = tc__interp_prepare(&q->ctx, &q->g);
    int n = 0;
    for (size_t i = 0; p && i < p->code.count; i++) n += p->code.at[i].step == step;
    tc__interp_free(p);
    return n;
}

static uint32_t valid(kernel *q, tc__level level, tc__ix e, int64_t n) {
    int64_t attr[2];
    attr[0] = e, attr[1] = num(n);
    return add_node(q, TC_OP_VALID, TC_BOOL, level, 0, NULL, 2, attr);
}

// Maps with a reflected column on the left, on the right what is computed, and a constant above and below: what
// chooses among them by places is one instruction, where places are asked for whole rectangles.
static void test_choice(int dtype, int64_t maps, int64_t height, int64_t width, int one) {
    int64_t all_h = height + 2, all_w = width + 2, n = maps * all_h * all_w;
    int wide = computed(dtype); // what ops are computed in
    kernel *q = new_kernel();
    double least = dtype == TC_U8 ? 0 : -9;
    uint32_t x = input(q, dtype, maps * height * width, least, 9), y = output(q, dtype, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(maps * all_h), num(all_w));
    tc__ix map = tc__ix_div(&q->ix, q->r, num(all_h));
    tc__ix in = plus(q, tc__ix_mod(&q->ix, q->r, num(all_h)), num(-1));
    tc__ix row = times(q, at2(q, map, height, in), width);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(maps * all_h));
    uint32_t inside = valid(q, TC__AT_ROW, in, height);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(all_w));
    uint32_t left = load_if(q, x, plus(q, row, plus(q, q->c, num(1))), 3, in, num(height),
                            q->c, num(1));
    tc__ix c = plus(q, q->c, num(-1));
    uint32_t middle = load_if(q, x, plus(q, row, c), 3, in, num(height), c, num(width));
    tc__ix back = tc__ix_sub(&q->ix, num(2 * width - 1), q->c);
    uint32_t right =
        load_if(q, x, plus(q, row, back), 3, in, num(height), back, num(width));
    right = cast(q, wide, right);
    right = cast(q, dtype, op2(q, TC_OP_ADD, wide, right, right));
    uint32_t is_middle = valid(q, TC__AT_COL, c, width);
    uint32_t is_left = valid(q, TC__AT_COL, q->c, 1);
    uint32_t v = op3(q, TC_OP_WHERE, dtype, is_middle, middle, right);
    v = op3(q, TC_OP_WHERE, dtype, is_left, left, v);
    v = op3(q, TC_OP_WHERE, dtype, inside, v, constant(q, dtype, 4));
    store(q, y, at2(q, q->r, all_w, q->c), v);
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, maps * all_h);
    int bad = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = i / all_w, k = i % all_w - 1, h = r % all_h - 1;
        int64_t at = (r / all_h * height + h) * width;
        double want = 4;
        if (h >= 0 && h < height) {
            if (k < 0) want = value(q, x, at + 1);
            if (k >= 0 && k < width) want = value(q, x, at + k);
            if (k == width) want = 2 * value(q, x, at + width - 2);
        }
        bad += value(q, y, i) != want;
    }
    CHECK(bad == 0);
    CHECK(steps_of(q, tc__step_choose) == one);
    CHECK(steps_of(q, tc__step_valid) == (one ? 0 : 3));
    free_kernel(q);
}

// Sums of products and of squares take no pass of their own for what is multiplied.
static void test_sum_of_products(int dtype, int64_t rows, int64_t cols) {
    kernel *q = new_kernel();
    uint32_t x = input(q, dtype, rows * cols, -3, 5), w = input(q, dtype, rows, -2, 2);
    uint32_t xx = output(q, dtype, rows), xy = output(q, dtype, rows);
    uint32_t scaled = output(q, dtype, rows);
    open_kernel(q, TC__REDUCTION, TC__COL, num(rows), num(cols));
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    for (int k = 0; k < 3; k++) fresh(q, k, TC_OP_ADD, dtype);
    uint32_t same = load(q, w, q->r); // for all columns
    loop(q, TC__COL, TC__BIND_VECTOR, 8192, num(cols));
    uint32_t a = load(q, x, at2(q, q->r, cols, q->c));
    uint32_t b = load(
        q, x, plus(q, at2(q, q->r, cols, num(cols - 1)), tc__ix_sub(&q->ix, num(0), q->c)));
    gather_into(q, 0, TC_OP_ADD, op1(q, TC_OP_SQUARE, dtype, a));
    gather_into(q, 1, TC_OP_ADD, op2(q, TC_OP_MUL, dtype, a, b));
    gather_into(q, 2, TC_OP_ADD, op2(q, TC_OP_MUL, dtype, same, b));
    end(q, TC__COL);
    store(q, xx, q->r, combine(q, 0, TC_OP_ADD, dtype));
    store(q, xy, q->r, combine(q, 1, TC_OP_ADD, dtype));
    store(q, scaled, q->r, combine(q, 2, TC_OP_ADD, dtype));
    end(q, TC__ROW);
    RUN(q, rows);
    float *v[3];
    int bad = 0;
    for (int k = 0; k < 3; k++) v[k] = (float *)calloc((size_t)cols, sizeof(float));
    for (int64_t r = 0; r < rows && dtype == TC_F32; r++) {
        const float *p = f32_of(q, x) + r * cols;
        for (int64_t c = 0; c < cols; c++) {
            v[0][c] = p[c] * p[c], v[1][c] = p[c] * p[cols - 1 - c];
            v[2][c] = f32_of(q, w)[r] * p[cols - 1 - c];
        }
        bad += f32_of(q, xx)[r] != reduce(v[0], cols, 1, 0, fold_add);
        bad += f32_of(q, xy)[r] != reduce(v[1], cols, 1, 0, fold_add);
        bad += f32_of(q, scaled)[r] != reduce(v[2], cols, 1, 0, fold_add);
    }
    for (int64_t r = 0; r < rows && dtype == TC_F64; r++) {
        double sum = 0, most = 0;
        for (int64_t c = 0; c < cols; c++) {
            double e = value(q, x, r * cols + c);
            sum += e * e, most += fabs(e * e);
        }
        bad += !near(value(q, xx, r), sum, 1e-13 * most);
    }
    CHECK(bad == 0);
    CHECK(steps_of(q, tc__step_block) == 0);
    for (int k = 0; k < 3; k++) free(v[k]);
    free_kernel(q);
}

// Sums of narrow integers are made where they lie.
static void test_narrow_sum(int dtype, int left, int right, tc__op op, int64_t n) {
    kernel *q = new_kernel();
    uint32_t x = input(q, left, n + 3, 0, 120), y = input(q, right, n, 0, 120);
    uint32_t z = output(q, dtype, n), same = output(q, dtype, n);
    int bytes = (int)tc__dtype(dtype)->bytes, bad = 0;
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    uint32_t a = cast(q, TC_I32, load(q, x, plus(q, q->c, num(3))));
    uint32_t b = cast(q, TC_I32, load(q, y, q->c));
    store(q, z, q->c, cast(q, dtype, op2(q, op, TC_I32, a, b)));
    uint32_t c = cast(q, TC_I32, load(q, y, q->c));
    store(q, same, q->c, cast(q, dtype, op2(q, op, TC_I32, c, c)));
    end(q, TC__COL);
    q->g.shape.grain = 100;
    RUN(q, (n + 99) / 100);
    for (int64_t i = 0; i < n; i++) {
        int64_t p = (int64_t)value(q, x, i + 3), r = (int64_t)value(q, y, i), want[2];
        want[0] = op == TC_OP_ADD ? p + r : op == TC_OP_SUB ? p - r : p * r;
        want[1] = op == TC_OP_ADD ? r + r : op == TC_OP_SUB ? 0 : r * r;
        for (int k = 0; k < 2; k++) {
            int64_t wrapped = want[k] & ((1 << 8 * bytes) - 1);
            if (dtype != TC_U8 && wrapped >> (8 * bytes - 1)) wrapped -= 1 << 8 * bytes;
            bad += (int64_t)value(q, k ? same : z, i) != wrapped;
        }
    }
    CHECK(bad == 0);
    CHECK(steps_of(q, tc__step_narrow) == 2 && steps_of(q, tc__step_block) == 0);
    free_kernel(q);
}

// Three products onto a sum, two of them by one instruction: factors from memory, or one for each row; rows of one
// factor are behind one another in a block where they are short. `twice`: the second has another use, so it is in one with the first, else
// with the third.
static void test_products_onto(int dtype, int64_t rows, int64_t cols, int by_row,
                               int twice) {
    int64_t n = rows * cols;
    kernel *q = new_kernel();
    uint32_t x[3], w[3], c = input(q, dtype, n, -2, 2), y = output(q, dtype, n);
    uint32_t below = twice ? output(q, dtype, n) : 0, v, sum;
    for (int k = 0; k < 3; k++)
        x[k] = input(q, dtype, n, -2, 2), w[k] = input(q, dtype, n, -2, 2);
    open_kernel(q, TC__POINTWISE, TC__COL, num(rows), num(cols));
    tc__ix at = at2(q, q->r, cols, q->c);
    tc__ix factor = by_row ? tc__ix_div(&q->ix, q->r, num(by_row)) : at;
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    v = sum = load(q, c, at);
    for (int k = 0; k < 3; k++) {
        v = op3(q, TC_OP_FMA, dtype, load(q, x[k], at), load(q, w[k], factor), v);
        if (k < 2) sum = v;
    }
    if (twice) store(q, below, at, sum);
    store(q, y, at, v);
    end(q, TC__COL);
    end(q, TC__ROW);
    CHECK(steps_of(q, tc__step_fma2) == 1);
    RUN(q, rows);
    int bad = 0;
    for (int64_t i = 0; i < n; i++) {
        double want = value(q, c, i);
        for (int k = 0; k < 3; k++) {
            double a = value(q, x[k], i),
                   b = value(q, w[k], by_row ? i / cols / by_row : i);
            double product = a * b;
            if (dtype == TC_F32)
                want = (double)fmaf((float)a, (float)b, (float)want);
            else
                want = product + want;
            if (k == 1 && twice) bad += value(q, below, i) != want;
        }
        bad += value(q, y, i) != want;
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// Copies in which rows lie side by side in what is read, `length` rows that are `every` apart, planes of them behind one
// another; columns from the last on where `back`. Workers share rows, or columns where grain is not 0: what they have
// begins and ends anywhere in a strip.
static void test_turn(int dtype, int64_t planes, int64_t length, int64_t every,
                      int64_t cols, int64_t grain, int back) {
    int64_t plane = length * every, rows = planes * plane;
    kernel *q = new_kernel();
    uint32_t x = input(q, dtype, rows * cols, 0, 99), y = output(q, dtype, rows * cols);
    open_kernel(q, TC__POINTWISE, TC__COL, num(rows), num(cols));
    tc__ix c = back ? tc__ix_sub(&q->ix, num(cols - 1), q->c) : q->c;
    tc__ix digit = tc__ix_div(&q->ix, tc__ix_mod(&q->ix, q->r, num(plane)), num(every));
    tc__ix from =
        at2(q, at2(q, c, every, tc__ix_mod(&q->ix, q->r, num(every))), length, digit);
    from = plus(q, from, times(q, tc__ix_div(&q->ix, q->r, num(plane)), plane * cols));
    loop(q, TC__ROW, grain ? TC__BIND_SERIAL : TC__BIND_WORKER, 0, num(rows));
    loop(q, TC__COL, grain ? TC__BIND_WORKER : TC__BIND_VECTOR, 0, num(cols));
    store(q, y, at2(q, q->r, cols, q->c), load(q, x, from));
    end(q, TC__COL);
    end(q, TC__ROW);
    q->g.shape.grain = grain;
    CHECK(steps_of(q, tc__step_turn) == 1);
    RUN(q, grain ? (cols + grain - 1) / grain : rows);
    int bad = 0;
    for (int64_t i = 0; i < rows * cols; i++) {
        int64_t r = i / cols, column = back ? cols - 1 - i % cols : i % cols;
        int64_t line = r / plane * cols * every + column * every + r % every;
        bad += value(q, y, i) != value(q, x, line * length + r % plane / every);
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// Rows of elements `step` apart in some rows, of a window elsewhere; and where a predicate never holds,
// whose place is before a run or behind it. Short rows stand behind one another in a block.
static void test_rows(int dtype, int64_t rows, int64_t cols, int64_t step) {
    int64_t n = rows * cols, wide = cols * step, far = 3 * cols + 5;
    kernel *q = new_kernel();
    uint32_t x = input(q, dtype, n * step, -9, 9), y = output(q, dtype, n);
    uint32_t before = output(q, dtype, n), behind = output(q, dtype, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(rows), num(cols));
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    tc__ix e = plus(q, times(q, q->r, wide), times(q, q->c, step));
    int64_t some[2];
    some[0] = plus(q, tc__ix_mod(&q->ix, q->r, num(5)), num(-1)), some[1] = num(2);
    uint32_t is_some = add_node(q, TC_OP_VALID, TC_BOOL, TC__AT_ROW, 0, NULL, 2, some);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    uint32_t all = load(q, x, e);
    tc__ix inner = plus(q, q->c, num(-2));
    uint32_t part = load_if(q, x, plus(q, e, num(-2)), 5, inner, num(cols - 3),
                            plus(q, q->r, num(-1)), num(rows - 1));
    uint32_t mixed = op3(q, TC_OP_WHERE, dtype, is_some, all, part);
    for (int k = 0; k < 2; k++) {
        tc__ix never = plus(q, q->c, num(k ? -far : far));
        uint32_t none = load_if(q, x, never, 7, never, num(k ? 3 : 4), 0, 0);
        store(q, k ? behind : before, at2(q, q->r, cols, q->c), none);
    }
    store(q, y, at2(q, q->r, cols, q->c), mixed); // whose register lies beside the others'
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = i / cols, c = i % cols, at = r * wide + c * step;
        double want = c >= 2 && c < cols - 1 && r >= 1 ? value(q, x, at - 2) : 5;
        if (r % 5 == 1 || r % 5 == 2) want = value(q, x, at);
        bad += value(q, y, i) != want;
        bad += value(q, before, i) != 7 || value(q, behind, i) != 7;
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// Images behind one another: of each row the neighbour below right, 5 outside, whose elements are `step` apart,
// from the last on where that is negative; and the images turned, their columns side by side. Rows, and the
// runs in which they move, end anywhere in a block.
static void test_planes(int dtype, int64_t planes, int64_t height, int64_t width,
                        int64_t step) {
    int64_t n = planes * height * width, far = step < 0 ? -step : step, wide = width * far;
    int64_t begin = step < 0 ? wide - 1 : 0;
    kernel *q = new_kernel();
    uint32_t x = input(q, dtype, n * far, -9, 9), y = output(q, dtype, n);
    uint32_t t = output(q, dtype, n), twice = output(q, dtype, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(planes * height), num(width));
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(planes * height));
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(width));
    tc__ix plane = tc__ix_div(&q->ix, q->r, num(height));
    tc__ix i = tc__ix_mod(&q->ix, q->r, num(height)), to = at2(q, q->r, width, q->c);
    tc__ix row = times(q, plus(q, at2(q, plane, height, i), num(1)), wide);
    tc__ix at = plus(q, row, plus(q, times(q, q->c, step), num(begin + step)));
    uint32_t next = load_if(q, x, at, 5, plus(q, i, num(1)), num(height),
                            plus(q, q->c, num(1)), num(width));
    uint32_t here = load(
        q, x, plus(q, times(q, q->c, step), plus(q, times(q, q->r, wide), num(begin))));
    int wider = computed(dtype);
    next = widened(q, TC__AT_COL, dtype, next), here = widened(q, TC__AT_COL, dtype, here);
    uint32_t most = op2(q, TC_OP_MAXIMUM, wider, next, here);
    store(q, twice, to, wider == dtype ? most : cast(q, dtype, most));
    store(q, y, to,
          load_if(q, x, at, 5, plus(q, i, num(1)), num(height), plus(q, q->c, num(1)),
                  num(width)));
    store(q, t, to,
          load(q, x, plus(q, at2(q, q->c, height, i), times(q, plane, height * width))));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, planes * height);
    int bad = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t p = e / (height * width), r = e / width % height, c = e % width;
        int64_t own = (p * height + r) * wide + begin + c * step;
        double want = r + 1 < height && c + 1 < width ? value(q, x, own + wide + step) : 5;
        double mine = value(q, x, own);
        bad += value(q, y, e) != want;
        bad += value(q, twice, e) != (mine > want ? mine : want);
        bad += value(q, t, e) != value(q, x, (p * width + c) * height + r);
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// Predicates that hold for no lane of a block, or of any: one element for each `length` columns, the next one, 5 behind
// the last; and of rows of that many columns what is a row further, 5 everywhere.
static void test_nowhere(int64_t rows, int64_t length, int64_t groups) {
    kernel *q = new_kernel();
    int64_t cols = length * groups, n = rows * cols;
    uint32_t x = input(q, TC_F32, rows * groups, 6, 9), z = input(q, TC_F32, n, 6, 9);
    uint32_t y = output(q, TC_F32, n), w = output(q, TC_F32, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(rows), num(cols));
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    tc__ix to = at2(q, q->r, cols, q->c),
           next = plus(q, tc__ix_div(&q->ix, q->c, num(length)), num(1));
    tc__ix far = plus(q, q->c, num(cols));
    store(
        q, y, to,
        load_if(q, x, at2(q, q->r, groups, next), 5, next, num(groups), next, num(groups)));
    store(q, w, to,
          load_if(q, z, at2(q, q->r, cols, far), 5, far, num(cols), far, num(cols)));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t group = e / length, last = group % groups == groups - 1;
        bad += value(q, y, e) != (last ? 5 : value(q, x, group + 1));
        bad += value(q, w, e) != 5;
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// What moves elements between memory and registers, for n of them: it writes these and nothing behind.
static void test_moves(const tc__isa *isa, int64_t n) {
    enum { MOST = 160, GUARD = 8 };
    int32_t word[2 * MOST], to[MOST + GUARD];
    uint8_t byte[MOST + GUARD];
    int bad = 0;
    for (int dtype = TC_BOOL; dtype <= TC_I8; dtype++) {
        for (int i = 0; i < 2 * MOST; i++)
            word[i] = (int32_t)((uint32_t)i * 2654435761u) >> (i % 25);
        int mask = dtype == TC_BOOL ? 1 : 255;
        memset(byte, 0x55, sizeof byte), memset(to, 0x55, sizeof to);
        for (int64_t i = 0; i < n && mask == 1; i++) word[i] = i % 3 ? isa->truth : 0;
        isa->out[dtype](byte, word, n);
        for (int64_t i = 0; i < n; i++) bad += byte[i] != (word[i] & mask);
        isa->in[dtype](to, byte, n);
        for (int64_t i = 0; i < n; i++) {
            int want = dtype == TC_I8 ? (int)(int8_t)byte[i] : (int)byte[i];
            bad += to[i] != (dtype == TC_BOOL ? want * isa->truth : want);
        }
        bad += byte[n] != 0x55 || to[n] != 0x55555555;
    }
    for (int64_t width = 1; width <= 8; width *= 2) {
        const uint8_t *filled = (const uint8_t *)word + width, *v = (const uint8_t *)to;
        memset(word, 0x55, sizeof word);
        for (int i = 0; i < 8; i++) to[i] = 0x01020304 * (i + 1);
        tc__fill(isa, (uint8_t *)word + width, v, width, n);
        for (int64_t i = 0; i < n * width; i++) bad += filled[i] != v[i % width];
        bad += filled[-1] != 0x55 || filled[n * width] != 0x55;
    }
    for (int i = 0; i < 2 * MOST; i++) word[i] = (int32_t)((uint32_t)i * 2654435761u);
    memset(to, 0x55, sizeof to);
    isa->second(to, word, n);
    for (int64_t i = 0; i < n; i++) bad += to[i] != word[2 * i];
    isa->turned(to, word + n, n);
    for (int64_t i = 0; i < n; i++) bad += to[i] != word[n - i];
    isa->ramp_i32(to, -70, 3, n);
    for (int64_t i = 0; i < n; i++) bad += to[i] != -70 + 3 * i;
    bad += to[n] != 0x55555555;
    CHECK(bad == 0);
}

// out[b, m, c] = relu(sum over k of left * right + bias[c])
static void test_contract(int dtype, int64_t batch, int64_t m, int64_t k, int64_t n,
                          int transposed, int square_right) {
    kernel *q = new_kernel();
    int64_t rows = batch * m;
    int wide = computed(dtype), half = dtype == TC_F16 || dtype == TC_BF16;
    uint32_t a = input(q, dtype, rows * k, -3, 4),
             b = input(q, dtype, batch * k * n, -3, 4);
    uint32_t bias = input(q, dtype, n, -3, 4), y = output(q, dtype, rows * n);
    open_kernel(q, TC__CONTRACTION, TC__COL, num(rows), num(n));
    q->g.shape.batch = num(batch);
    q->k = tc__ix_var(&q->ix, TC__DEPTH, num(k));
    tc__ix part = tc__ix_div(&q->ix, q->r, num(m));
    tc__ix right = transposed ? at2(q, q->c, k, q->k) : at2(q, q->k, n, q->c);
    tc__ix left = at2(q, q->r, k, q->k);
    if (transposed == 2)
        left = plus(q, at2(q, q->k, m, tc__ix_mod(&q->ix, q->r, num(m))),
                    times(q, part, m * k));
    uint32_t factor[2], square[2];
    factor[0] = widened(q, TC__AT_LEFT, dtype, load_at(q, TC__AT_LEFT, a, left));
    factor[1] = load_at(q, TC__AT_RIGHT, b, plus(q, right, times(q, part, k * n)));
    factor[1] = widened(q, TC__AT_RIGHT, dtype, factor[1]);
    square[0] = square[1] = factor[1];
    if (square_right)
        factor[1] = add_node(q, TC_OP_MUL, wide, TC__AT_RIGHT, 2, square, 0, NULL);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(n));
    tc__ix depth = num(k);
    uint32_t v = add_node(q, TC_OP_CONTRACT, wide, TC__AT_COL, 2, factor, 1, &depth);
    uint32_t w = widened(q, TC__AT_COL, dtype, load(q, bias, q->c));
    v = op1(q, TC_OP_RELU, wide, op2(q, TC_OP_ADD, wide, v, w));
    store(q, y, at2(q, q->r, n, q->c), wide == dtype ? v : cast(q, dtype, v));
    end(q, TC__COL);
    end(q, TC__ROW);
    q->g.shape.grain = 24;
    RUN(q, batch * ((m + 23) / 24));
    int bad = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < n; c++) {
            double s = 0;
            float f = 0;
            for (int64_t i = 0; i < k; i++) {
                int64_t at = r / m * k * n + (transposed ? c * k + i : i * n + c);
                int64_t la = transposed == 2 ? r / m * m * k + i * m + r % m : r * k + i;
                double w = value(q, b, at);
                if (square_right)
                    w = dtype == TC_F32 || half ? (double)((float)w * (float)w) : w * w;
                s += value(q, a, la) * w;
                f = fmaf((float)value(q, a, la), (float)w, f);
            }
            if (dtype == TC_F32 || half)
                s = (double)(f + (float)value(q, bias, c));
            else
                s += value(q, bias, c);
            s = s > 0 ? s : 0;
            if (dtype == TC_U8) s = (double)((int64_t)s & 255);
            if (dtype == TC_I8) s = (double)(int8_t)((int64_t)s & 255);
            if (half) s = half_value(format_of(dtype), half_nearest(format_of(dtype), s));
            bad += value(q, y, r * n + c) != s;
        }
    }
    CHECK(bad == 0);
    free_kernel(q);
}

// The epilogue passes twice over the row: y = product - sum of the row of products.
static void test_contract_row(int64_t m, int64_t k, int64_t n) {
    kernel *q = new_kernel();
    uint32_t a = input(q, TC_F32, m * k, -3, 4), b = input(q, TC_F32, k * n, -3, 4);
    uint32_t y = output(q, TC_F32, m * n), sums = output(q, TC_F32, m);
    open_kernel(q, TC__CONTRACTION, TC__COL, num(m), num(n));
    q->g.shape.batch = num(1), q->g.shape.grain = 16;
    q->k = tc__ix_var(&q->ix, TC__DEPTH, num(k));
    uint32_t factor[2];
    factor[0] = load_at(q, TC__AT_LEFT, a, at2(q, q->r, k, q->k));
    factor[1] = load_at(q, TC__AT_RIGHT, b, at2(q, q->k, n, q->c));
    tc__ix depth = num(k);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(m));
    fresh(q, 0, TC_OP_ADD, TC_F32);
    uint32_t v = add_node(q, TC_OP_CONTRACT, TC_F32, TC__AT_COL, 2, factor, 1, &depth);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(n));
    gather_into(q, 0, TC_OP_ADD, v);
    end(q, TC__COL);
    uint32_t sum = combine(q, 0, TC_OP_ADD, TC_F32);
    store(q, sums, q->r, sum);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(n));
    store(q, y, at2(q, q->r, n, q->c), op2(q, TC_OP_SUB, TC_F32, v, sum));
    end(q, TC__COL);
    end(q, TC__ROW);
    RUN(q, (m + 15) / 16);
    int bad = 0;
    float *row = (float *)calloc((size_t)n, sizeof(float));
    for (int64_t r = 0; r < m; r++) {
        for (int64_t c = 0; c < n; c++) {
            row[c] = 0;
            for (int64_t i = 0; i < k; i++)
                row[c] = fmaf(f32_of(q, a)[r * k + i], f32_of(q, b)[i * n + c], row[c]);
        }
        float all = reduce(row, n, 1, 0, fold_add);
        bad += f32_of(q, sums)[r] != all;
        for (int64_t c = 0; c < n; c++) bad += f32_of(q, y)[r * n + c] != row[c] - all;
    }
    CHECK(bad == 0);
    free(row);
    free_kernel(q);
}

static void test_random(void) {
    const int64_t n = 3000;
    kernel *q = new_kernel();
    uint32_t y = output(q, TC_F32, n), z = output(q, TC_F64, n), w = output(q, TC_F32, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    int64_t e = q->c, attr[2];
    uint32_t scale =
        add_node(q, TC_OP_ARG, TC_F32, TC__AT_ROW, 0, NULL, 1, attr + (attr[0] = 1, 0));
    q->arg[1] = 2.0;
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    uint32_t i = add_node(q, TC_OP_INDEX, TC_I64, TC__AT_COL, 0, NULL, 1, &e);
    attr[0] = 0, attr[1] = 3;
    uint32_t u = add_node(q, TC_OP_RANDOM, TC_F32, TC__AT_COL, 1, &i, 2, attr);
    store(q, y, q->c, op2(q, TC_OP_MUL, TC_F32, u, scale));
    store(q, z, q->c, add_node(q, TC_OP_RANDOM, TC_F64, TC__AT_COL, 1, &i, 2, attr));
    attr[0] = 1;
    store(q, w, q->c, add_node(q, TC_OP_RANDOM, TC_F32, TC__AT_COL, 1, &i, 2, attr));
    end(q, TC__COL);
    q->g.shape.grain = 1000;
    RUN(q, 3);
    double mean = 0, mean64 = 0, square = 0;
    for (int64_t k = 0; k < n; k++) {
        mean += value(q, y, k) / (double)n, mean64 += value(q, z, k) / (double)n;
        square += value(q, w, k) * value(q, w, k) / (double)n;
    }
    CHECK(near(mean, 1, 0.05) && near(mean64, 0.5, 0.05) && near(square, 1, 0.1));
    free_kernel(q);
}

// A symbolic number of columns, rows around columns, vectors that a scalar loop runs
// inside.
static void test_symbols(int rows_outside) {
    const int64_t rows = 6, cols = 300;
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, rows * cols, -1, 1), y = output(q, TC_F32, rows * cols);
    tc__ix s = tc__ix_sym(&q->ix, 2, 1, 100000);
    q->size[2] = cols;
    open_kernel(q, TC__POINTWISE, TC__COL, num(rows), s);
    tc__ix e = plus(q, tc__ix_mul(&q->ix, q->r, s), q->c);
    if (!rows_outside) loop(q, TC__COL, TC__BIND_WORKER, 0, s);
    loop(q, TC__ROW, TC__BIND_SERIAL, 0, num(rows));
    if (rows_outside) loop(q, TC__COL, TC__BIND_WORKER, 0, s);
    store(q, y, e, op1(q, TC_OP_NEG, TC_F32, load(q, x, e)));
    end(q, rows_outside ? TC__COL : TC__ROW);
    end(q, rows_outside ? TC__ROW : TC__COL);
    q->g.shape.grain = 64;
    RUN(q, (cols + 63) / 64);
    int bad = 0;
    for (int64_t i = 0; i < rows * cols; i++) bad += f32_of(q, y)[i] != -f32_of(q, x)[i];
    CHECK(bad == 0);
    free_kernel(q);
}

// ---- memory that is narrower than a register

// Element i by hand: every value of a byte, and 16-bit words of all kinds.
static uint16_t raw_element(int dtype, int64_t i) {
    if (dtype == TC_BOOL) return (uint16_t)(i * i % 7 < 3);
    if (dtype == TC_U8 || dtype == TC_I8) return (uint16_t)((uint64_t)i * 37 & 255);
    return (uint16_t)((uint64_t)i * 40503 >> 3);
}

static double raw_value(int dtype, uint16_t raw) {
    if (dtype == TC_I8) return raw < 128 ? raw : raw - 256;
    if (dtype == TC_I16) return raw < 32768 ? raw : raw - 65536;
    if (dtype == TC_BOOL || dtype == TC_U8) return raw;
    return half_value(format_of(dtype), raw);
}

static uint16_t raw_at(const kernel *q, uint32_t b, int64_t i) {
    const void *p = q->memory[b];
    int bytes = (int)tc__dtype(q->g.buffer.at[b].dtype)->bytes;
    return bytes == 1 ? ((const uint8_t *)p)[i] : ((const uint16_t *)p)[i];
}

static void raw_put(const kernel *q, uint32_t b, int64_t i, uint16_t raw) {
    if (tc__dtype(q->g.buffer.at[b].dtype)->bytes == 1)
        ((uint8_t *)q->memory[b])[i] = (uint8_t)raw;
    else
        ((uint16_t *)q->memory[b])[i] = raw;
}

static int same_raw(int dtype, uint16_t a, uint16_t b) {
    int half = dtype == TC_F16 || dtype == TC_BF16;
    return half ? half_same(format_of(dtype), a, b) : a == b;
}

// What 3 * x + 1 is in memory of dtype: wrapped, or rounded once behind two f32 operations.
static uint16_t raw_scaled(int dtype, uint16_t raw) {
    volatile float product = 3 * (float)raw_value(dtype, raw);
    if (dtype == TC_F16 || dtype == TC_BF16)
        return half_nearest(format_of(dtype), (double)(product + 1));
    return (uint16_t)(dtype == TC_I16 ? 3 * raw + 1 : (3 * raw + 1) & 255);
}

enum { NARROW_WAYS = 8, NARROW_AT = 5 };

// Loads and stores of every kind, all of x[]: each way has a result of its own.
static void narrow_kernel(kernel *q, int dtype, int64_t n, uint32_t x, uint32_t at,
                          const uint32_t *y) {
    const int64_t rows = n / 4; // of the transposed copy
    int64_t attr[2];
    tc__ix back = tc__ix_sub(&q->ix, num(n - 1), q->c);
    tc__ix across = plus(q, times(q, tc__ix_mod(&q->ix, q->c, num(4)), rows),
                         tc__ix_div(&q->ix, q->c, num(4)));
    uint32_t same = load_at(q, TC__AT_ROW, x, num(NARROW_AT));
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    uint32_t v = load(q, x, q->c), i = load(q, at, q->c);
    attr[0] = num(n), attr[1] = 5;
    uint32_t safe = add_node(q, TC_OP_CHECK, TC_I64, TC__AT_COL, 1, &i, 2, attr);
    store(q, y[0], q->c, v);
    store(q, y[1], times(q, q->c, 2), v);
    store(q, y[1], plus(q, times(q, q->c, 2), num(1)), same);
    store(q, y[2], q->c, load(q, x, back));
    store(q, y[3], q->c, load(q, x, tc__ix_val(&q->ix, safe, num(n))));
    store(q, y[4], q->c, same);
    store(q, y[5], across, v);
    tc__ix shifted = plus(q, q->c, num(-3));
    store(q, y[6], q->c, load_if(q, x, shifted, 1, shifted, num(n), 0, 0));
    if (dtype == TC_BOOL) {
        store(q, y[7], q->c, op1(q, TC_OP_LOGICAL_NOT, TC_BOOL, v));
    } else {
        int wide = computed(dtype);
        uint32_t three = constant(q, wide, 3), one = constant(q, wide, 1);
        uint32_t w = op2(q, TC_OP_MUL, wide, three, widened(q, TC__AT_COL, dtype, v));
        w = op2(q, TC_OP_ADD, wide, w, one);
        store(q, y[7], q->c, wide == dtype ? w : cast(q, dtype, w));
    }
    store(q, y[NARROW_WAYS], q->c, cast(q, TC_F64, v));
    end(q, TC__COL);
}

static void test_narrow(int dtype, int64_t n) {
    kernel *q = new_kernel();
    uint32_t x = input(q, dtype, n, 0, 1), at = input(q, TC_I64, n, 0, (double)n);
    uint32_t y[NARROW_WAYS + 1];
    for (int k = 0; k < NARROW_WAYS; k++) y[k] = output(q, dtype, k == 1 ? 2 * n : n);
    y[NARROW_WAYS] = output(q, TC_F64, n);
    for (int64_t i = 0; i < n; i++) raw_put(q, x, i, raw_element(dtype, i));
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    narrow_kernel(q, dtype, n, x, at, y);
    q->g.shape.grain = 512;
    RUN(q, (n + 511) / 512);
    int bad[NARROW_WAYS + 1] = {0};
    uint16_t fill = dtype == TC_F16 ? 0x3c00 : dtype == TC_BF16 ? 0x3f80 : 1;
    for (int64_t i = 0; i < n; i++) {
        uint16_t v = raw_element(dtype, i), w = raw_scaled(dtype, v);
        int64_t from = ((const int64_t *)q->memory[at])[i];
        if (dtype == TC_BOOL) w = !v;
        bad[0] += !same_raw(dtype, raw_at(q, y[0], i), v);
        bad[1] += !same_raw(dtype, raw_at(q, y[1], 2 * i), v);
        bad[1] +=
            !same_raw(dtype, raw_at(q, y[1], 2 * i + 1), raw_element(dtype, NARROW_AT));
        bad[2] += !same_raw(dtype, raw_at(q, y[2], i), raw_element(dtype, n - 1 - i));
        bad[3] += !same_raw(dtype, raw_at(q, y[3], i), raw_element(dtype, from));
        bad[4] += !same_raw(dtype, raw_at(q, y[4], i), raw_element(dtype, NARROW_AT));
        bad[5] += !same_raw(dtype, raw_at(q, y[5], i % 4 * (n / 4) + i / 4), v);
        bad[6] +=
            !same_raw(dtype, raw_at(q, y[6], i), i < 3 ? fill : raw_element(dtype, i - 3));
        bad[7] += !same_raw(dtype, raw_at(q, y[7], i), w);
        double want = raw_value(dtype, v), got = value(q, y[NARROW_WAYS], i);
        bad[NARROW_WAYS] += got != want && (got == got || want == want);
    }
    for (int k = 0; k <= NARROW_WAYS; k++) {
        if (bad[k]) printf("dtype %d, way %d: %d of %d\n", dtype, k, bad[k], (int)n);
        CHECK(bad[k] == 0);
    }
    free_kernel(q);
}

// Rows of a narrow table, rows outside: contiguous columns, a uniform value of each row, and sums.
static void test_narrow_rows(int dtype, int64_t rows, int64_t cols) {
    kernel *q = new_kernel();
    int float32 = tc__is_float(dtype), wide = float32 ? (int)TC_F32 : (int)TC_I32;
    uint32_t x = input(q, dtype, rows * cols, -9, 9), y = output(q, dtype, rows * cols);
    uint32_t scale = input(q, dtype, rows, -3, 4), z = output(q, dtype, rows);
    open_kernel(q, TC__REDUCTION, TC__COL, num(rows), num(cols));
    tc__ix e = at2(q, q->r, cols, q->c);
    loop(q, TC__ROW, TC__BIND_WORKER, 0, num(rows));
    uint32_t s = cast_at(q, TC__AT_ROW, wide, load_at(q, TC__AT_ROW, scale, q->r));
    fresh(q, 0, TC_OP_ADD, wide);
    loop(q, TC__COL, TC__BIND_VECTOR, 0, num(cols));
    uint32_t v = cast(q, wide, load(q, x, e));
    store(q, y, e, cast(q, dtype, op2(q, TC_OP_MUL, wide, v, s)));
    gather_into(q, 0, TC_OP_ADD, v);
    end(q, TC__COL);
    store(q, z, q->r, cast_at(q, TC__AT_ROW, dtype, combine(q, 0, TC_OP_ADD, wide)));
    end(q, TC__ROW);
    RUN(q, rows);
    int bad = 0;
    float *row = (float *)calloc((size_t)cols, sizeof *row);
    for (int64_t r = 0; r < rows; r++) {
        double by = raw_value(dtype, raw_at(q, scale, r));
        int64_t whole = 0;
        for (int64_t c = 0; c < cols; c++) {
            double a = raw_value(dtype, raw_at(q, x, r * cols + c)), p = a * by;
            uint16_t want = (uint16_t)((uint64_t)(int64_t)(float32 ? 0 : p) & 65535);
            row[c] = (float)a, whole += float32 ? 0 : (int64_t)a;
            if (float32) want = half_nearest(format_of(dtype), (double)(float)p);
            if (tc__dtype(dtype)->bytes == 1) want &= 255;
            bad += !same_raw(dtype, raw_at(q, y, r * cols + c), want);
        }
        uint16_t sum = (uint16_t)((uint64_t)whole & 65535);
        if (float32)
            sum = half_nearest(format_of(dtype), (double)reduce(row, cols, 1, 0, fold_add));
        if (tc__dtype(dtype)->bytes == 1) sum &= 255;
        bad += !same_raw(dtype, raw_at(q, z, r), sum);
    }
    CHECK(bad == 0);
    free(row);
    free_kernel(q);
}

// One value at a time, which constants and eager scalars go through.
static void test_half_values(int dtype) {
    half_format f = format_of(dtype);
    float *x = (float *)malloc(HALF_CASES * sizeof *x);
    int to = 0, from = 0, through = 0;
    half_cases(f, x);
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h;
        double got = tc__value_load(&bits, 0, dtype).f, want = half_value(f, bits);
        from += memcmp(&got, &want, sizeof got) && (got == got || want == want);
    }
    for (int i = 0; i < HALF_CASES; i++) {
        tc__value v;
        uint16_t bits, want = half_nearest(f, (double)x[i]);
        v.f = (double)x[i];
        tc__value_store(&bits, 0, dtype, v);
        to += !half_same(f, bits, want);
        v = tc__value_cast(v, TC_F64, dtype);
        through += v.f != half_value(f, want) && (v.f == v.f || x[i] == x[i]);
    }
    CHECK(to == 0);
    CHECK(from == 0);
    CHECK(through == 0);
    free(x);
}

// The same of 8 bits.
static void test_byte_values(int dtype) {
    byte_format f = dtype == TC_F8E4M3 ? byte_e4m3 : byte_e5m2;
    float x[BYTE_CASES];
    int to = 0, from = 0, through = 0;
    byte_cases(f, x);
    for (int b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;
        double got = tc__value_load(&byte, 0, dtype).f, want = byte_value(f, byte);
        from += memcmp(&got, &want, sizeof got) && (got == got || want == want);
    }
    for (int i = 0; i < BYTE_CASES; i++) {
        tc__value v;
        uint8_t byte, want = byte_nearest(f, (double)x[i]);
        v.f = (double)x[i];
        tc__value_store(&byte, 0, dtype, v);
        to += !byte_same(f, byte, want);
        v = tc__value_cast(v, TC_F64, dtype);
        through += v.f != byte_value(f, want) && (v.f == v.f || x[i] == x[i]);
    }
    CHECK(to == 0);
    CHECK(from == 0);
    CHECK(through == 0);
}

// ---- every loop of the tables: both sets give the same bits

static void fill_register(void *d, int dtype, const tc__isa *isa, int64_t n,
                          uint64_t seed) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t z = random64(&seed);
        int64_t small = (int64_t)(z >> 20 & 63) - 24;
        int pick = (int)(z & 7);
        uint32_t low = (uint32_t)(z >> 32);
        switch ((tc_dtype)dtype) {
        case TC_BOOL: ((int32_t *)d)[i] = z & 8 ? isa->truth : 0; break;
        case TC_U8: ((int32_t *)d)[i] = (int32_t)(z >> 40 & 255); break;
        case TC_I8: ((int32_t *)d)[i] = (int32_t)(z >> 40 & 255) - 128; break;
        case TC_I16: ((int32_t *)d)[i] = (int32_t)(z >> 40 & 65535) - 32768; break;
        case TC_I32: ((int32_t *)d)[i] = pick < 5 ? (int32_t)small : (int32_t)low; break;
        case TC_I64: ((int64_t *)d)[i] = pick < 5 ? small : (int64_t)(z ^ z << 30); break;
        case TC_F8E4M3:
        case TC_F8E5M2:
        case TC_F16: // any f32 in a register, rounded where it is stored
        case TC_BF16:
        case TC_F32:
            ((float *)d)[i] = (float)small * 0.37f;
            if (pick > 4) memcpy((float *)d + i, &low, 4);
            break;
        case TC_F64:
            ((double *)d)[i] = (double)small * 0.37;
            if (pick > 4) memcpy((double *)d + i, &z, 8);
            break;
        case TC_DTYPE_COUNT: break;
        }
    }
}

static int same_registers(const void *x, const void *y, int dtype, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const float *f = (const float *)x + i, *g = (const float *)y + i;
        const double *d = (const double *)x + i, *e = (const double *)y + i;
        int ok = 0;
        if (dtype == TC_BOOL)
            ok = ((const int32_t *)x)[i] == -((const int32_t *)y)[i];
        else if (tc__reg_width(dtype) == 4)
            ok = !memcmp(f, g, 4);
        else
            ok = !memcmp(d, e, 8);
        int is_f32 = tc__is_float(dtype) && tc__reg_width(dtype) == 4;
        if (is_f32 && *f != *f && *g != *g) ok = 1;
        if (dtype == TC_F64 && *d != *d && *e != *e) ok = 1;
        if (!ok) return (int)i + 1;
    }
    return 0;
}

enum { LOOP_N = 4096 };
static double loop_memory[5][LOOP_N];

static int loop_differs(tc__block_fn one, tc__block_fn two, const int in[3], int out) {
    const tc__isa *isa[2];
    isa[0] = &tc__isa_scalar, isa[1] = tc__isa_best(tc__cpu_features());
    for (int s = 0; s < 2; s++) {
        tc__reg r[3];
        for (int k = 0; k < 3; k++) {
            r[k].at = loop_memory[k], r[k].mask = -1;
            fill_register(r[k].at, in[k], isa[s], LOOP_N, (uint64_t)k * 1000 + 5);
        }
        (s ? two : one)(loop_memory[3 + s], &r[0], &r[1], &r[2], LOOP_N);
    }
    return same_registers(loop_memory[3], loop_memory[4], out, LOOP_N);
}

static int is_comparison(int op) {
    return (op >= TC_OP_EQ && op <= TC_OP_GE) || op == TC_OP_ISNAN || op == TC_OP_ISFINITE;
}

// What casts start from, in the order of the tables' rows: memory narrower than a register starts from
// what the register is.
enum { CASTS_FROM = 5 };
static const int casts_from[CASTS_FROM] = {TC_BOOL, TC_F32, TC_F64, TC_I32, TC_I64};

static int test_cast_loops(const tc__isa *s, const tc__isa *v) {
    int loops = 0;
    for (int row = 0; row < CASTS_FROM; row++) {
        int from = casts_from[row];
        CHECK(tc__loop_from(from) == row);
        for (int to = 0; to < TC_DTYPE_COUNT; to++) {
            int in[3], at, nothing = from == to;
            CHECK((s->cast[row][to] == NULL) == nothing);
            CHECK((v->cast[row][to] == NULL) == nothing);
            if (nothing || v == s) continue;
            in[0] = in[1] = in[2] = from;
            at = loop_differs(s->cast[row][to], v->cast[row][to], in, to);
            if (at) printf("cast %d to %d differs at %d\n", from, to, at - 1);
            CHECK(at == 0);
            loops++;
        }
    }
    CHECK(tc__loop_from(TC_U8) == 3 && tc__loop_from(TC_I8) == 3);
    CHECK(tc__loop_from(TC_I16) == 3);
    CHECK(tc__loop_from(TC_F16) == 1 && tc__loop_from(TC_BF16) == 1);
    CHECK(tc__loop_from(TC_F8E4M3) == 1 && tc__loop_from(TC_F8E5M2) == 1);
    return loops;
}

// Small integers are computed as i32: only what copies has loops, those of i32. Halves have f32's.
static void test_narrow_loops(const tc__isa *a) {
    static const int small[] = {TC_U8, TC_I8, TC_I16}, half[] = {TC_F16, TC_BF16};
    for (int op = 0; op < TC_OP_COUNT; op++) {
        for (int k = 0; k < 3; k++) {
            tc__block_fn want = op == TC_OP_WHERE ? a->alu[op][TC_I32] : NULL;
            CHECK(a->alu[op][small[k]] == want && !a->fold[op][small[k]]);
        }
        for (int k = 0; k < 2; k++) {
            CHECK(a->alu[op][half[k]] == a->alu[op][TC_F32]);
            CHECK(a->fold[op][half[k]] == a->fold[op][TC_F32]);
        }
    }
}

static void test_loops(void) {
    const tc__isa *v = tc__isa_best(tc__cpu_features()), *s = &tc__isa_scalar;
    int loops = 0;
    test_narrow_loops(s), test_narrow_loops(v);
    for (int op = 0; op < TC_OP_COUNT; op++) {
        for (int t = 0; t < TC_DTYPE_COUNT; t++) {
            int in[3], out = is_comparison(op) ? TC_BOOL : t, at;
            if (!s->alu[op][t] || v == s) continue;
            in[0] = op == TC_OP_WHERE ? TC_BOOL : t, in[1] = in[2] = t;
            at = loop_differs(s->alu[op][t], v->alu[op][t], in, out);
            if (at) printf("op %d dtype %d differs at %d\n", op, t, at - 1);
            CHECK(at == 0);
            loops++;
        }
    }
    loops += test_cast_loops(s, v);
    if (v != s) CHECK(loops > 200);
}

// ---- timings, when asked for

// gelu(x * a + b) and a chain of eight cheap ops.
static void time_chain(int64_t n, int cheap) {
    kernel *q = new_kernel();
    uint32_t x = input(q, TC_F32, n, -4, 4), y = output(q, TC_F32, n);
    open_kernel(q, TC__POINTWISE, TC__COL, num(1), num(n));
    uint32_t a = constant(q, TC_F32, 1.25), b = constant(q, TC_F32, 0.5);
    loop(q, TC__COL, TC__BIND_WORKER, 0, num(n));
    uint32_t v = load(q, x, q->c);
    for (int i = 0; i < (cheap ? 4 : 1); i++)
        v = op2(q, TC_OP_ADD, TC_F32, op2(q, TC_OP_MUL, TC_F32, v, a), b);
    store(q, y, q->c, cheap ? v : op1(q, TC_OP_GELU, TC_F32, v));
    end(q, TC__COL);
    q->g.shape.grain = 4096;
    RUN(q, (n + 4095) / 4096);
    free_kernel(q);
}

static void time_loop(const char *name, tc__block_fn f) {
    tc__reg r[3];
    double best = 1e9;
    for (int k = 0; k < 3; k++) {
        r[k].at = loop_memory[k], r[k].mask = -1;
        for (int i = 0; i < 1024; i++) ((float *)r[k].at)[i] = (float)i * 0.003f + 0.5f;
    }
    for (int t = 0; t < 7; t++) {
        double at = seconds();
        for (int i = 0; i < 2000; i++) f(loop_memory[3], &r[0], &r[1], &r[2], 1024);
        at = (seconds() - at) / 2000 / 1024 * 1e9;
        best = at < best ? at : best;
    }
    printf("  %-24s %7.3f ns/element\n", name, best);
}

static void bench(void) {
    const tc__isa *isa[2];
    isa[0] = &tc__isa_scalar, isa[1] = tc__isa_best(tc__cpu_features());
    for (int s = 0; s < 2; s++) {
        printf("%s\n", isa[s]->name);
        time_loop("add f32", isa[s]->alu[TC_OP_ADD][TC_F32]);
        time_loop("fma f32", isa[s]->alu[TC_OP_FMA][TC_F32]);
        time_loop("maximum f32", isa[s]->alu[TC_OP_MAXIMUM][TC_F32]);
        time_loop("exp f32", isa[s]->alu[TC_OP_EXP][TC_F32]);
        time_loop("tanh f32", isa[s]->alu[TC_OP_TANH][TC_F32]);
        time_loop("gelu f32", isa[s]->alu[TC_OP_GELU][TC_F32]);
        time_loop("add f64", isa[s]->alu[TC_OP_ADD][TC_F64]);
        time_loop("cast f32 i32", isa[s]->cast[tc__loop_from(TC_F32)][TC_I32]);
    }
    timing = 1;
    printf("gelu(x*a+b) 16K, 1M; 8 cheap ops 16K, 1M\n");
    time_chain(16384, 0), time_chain(1 << 20, 0);
    time_chain(16384, 1), time_chain(1 << 20, 1);
    printf("softmax 1000x768, layer norm 1000x768, column sum 4096 of 500, row sum "
           "50x20000\n");
    test_softmax(1000, 768), test_layer_norm(1000, 768);
    test_column_sum(4096, 500), test_row_sum(50, 20000);
    printf("argmax 400x3000, stencil 64x1000\n");
    test_arg(TC_F32, 400, 3000, 0, 0), test_stencil(64, 1000);
    printf("matmul 256x512x256: b [k, n], b [n, k], a and b transposed\n");
    for (int t = 0; t < 3; t++) test_contract(TC_F32, 1, 256, 512, 256, t, 0);
}

// Values of ops, by what the interpreter has for them.
static void test_rows_and_columns(void) {
    test_pointwise(4999);
    test_pointwise(7);
    test_softmax(5, 1000);
    test_softmax(3, 37);
    test_softmax(2, 20000);
    test_layer_norm(4, 768);
    test_layer_norm(3, 5);
    test_column_sum(70, 100);
    test_column_sum(600, 33);
    test_column_sum(40, 20000);
    test_row_sum(3, 20000);
    test_row_sum(2, 8192);
    test_row_sum(9, 77);
    for (int less = 0; less < 2; less++) {
        for (int rows = 0; rows < 2; rows++) {
            test_arg(TC_F32, 40, 300, rows, less);
            test_arg(TC_I64, 7, 9000, rows, less);
            test_arg(TC_U8, 5, 1, rows, less);
            test_arg(TC_I8, 37, 100, rows, less);
            test_arg(TC_BF16, 40, 300, rows, less);
            test_arg(TC_F64, 3, 0, rows, less);
        }
    }
}

static void test_places(void) {
    for (int64_t n = 0; n <= 150; n++)
        test_moves(&tc__isa_scalar, n), test_moves(tc__isa_best(tc__cpu_features()), n);
    test_nowhere(1, 2000, 2), test_nowhere(41, 100, 1), test_nowhere(300, 9, 3);
    test_nowhere(3, 1024, 3), test_nowhere(1, 40, 100), test_nowhere(5, 1, 7);
    test_gather();
    test_stencil(9, 14);
    test_stencil(40, 64);
    test_stencil(3, 300);
    static const int turned[] = {TC_U8, TC_BF16, TC_F32, TC_F64, TC_BOOL, TC_I64};
    for (size_t k = 0; k < sizeof turned / sizeof *turned; k++) {
        test_turn(turned[k], 1, 300, 1, 70, 0, 0), test_turn(turned[k], 3, 9, 1, 8, 0, 1);
        test_turn(turned[k], 2, 57, 5, 131, 0, 1),
            test_turn(turned[k], 1, 270, 1, 200, 7, 0);
        test_turn(turned[k], 2, 40, 3, 65, 4, 1), test_turn(turned[k], 7, 8, 11, 9, 0, 0);
    }
    for (int64_t step = 1; step < 4; step++) {
        test_planes(TC_F32, 7, 9, 28, step), test_planes(TC_F32, 3, 56, 56, step);
        test_planes(TC_F64, 2, 17, 31, step), test_planes(TC_BF16, 5, 11, 57, step);
        test_planes(TC_U8, 130, 8, 9, step), test_planes(TC_I64, 3, 60, 5, step);
        test_planes(TC_F32, 2, 3, 300, step), test_planes(TC_F32, 40, 1, 13, step);
        test_planes(TC_F16, 9, 9, 4, -step), test_planes(TC_F32, 9, 10, 100, -step);
        test_planes(TC_F32, 1, 2100, 16, -step), test_planes(TC_I16, 3, 70, 24, -step);
        test_rows(TC_F32, 9, 14, step);
        test_rows(TC_F64, 40, 57, step);
        test_rows(TC_I32, 300, 3, step);
        test_rows(TC_F32, 5, 300, step);
        test_rows(TC_F32, 70, 28, step);
    }
    static const int mixed[] = {TC_F32, TC_F64, TC_I32, TC_I64};
    for (int k = 0; k < 4; k++) {
        test_interleaved(mixed[k], 2, 5000, 3136, 1000);
        test_interleaved(mixed[k], 3, 2003, 1024, 77);
        test_interleaved(mixed[k], 3, 40, 7, 1024);
    }
    static const int all[] = {TC_F32, TC_F64, TC_I32, TC_I64,
                              TC_U8,  TC_I16, TC_F16, TC_BF16};
    for (int k = 0; k < 8; k++) {
        test_choice(all[k], 3, 20, 40, 1), test_choice(all[k], 2, 3, 300, 1);
        test_choice(all[k], 70, 28, 28, 1), test_choice(all[k], 1, 1, 2000, 1);
        test_choice(all[k], 3, 5, 4, 0); // rectangles of few elements
    }
}

static void test_products(void) {
    for (int twice = 0; twice < 2; twice++) {
        test_products_onto(TC_F32, 70, 57, 0, twice),
            test_products_onto(TC_F32, 300, 56, 75, twice);
        test_products_onto(TC_F32, 3, 1000, 1, twice),
            test_products_onto(TC_F64, 4, 999, 0, twice);
        test_products_onto(TC_F64, 90, 16, 30, twice),
            test_products_onto(TC_F64, 5, 3001, 1, twice);
    }
    for (int t = 0; t < 3; t++) {
        test_contract(TC_F32, 2, 37, 100, 45, t, 0);
        test_contract(TC_F32, 1, 70, 300, 300, t, 1);
        test_contract(TC_F64, 1, 5, 30, 33, t, 0);
        test_contract(TC_I32, 3, 30, 17, 16, t, 1);
        test_contract(TC_I64, 1, 3, 0, 5, t, 0);
        test_contract(TC_U8, 1, 9, 40, 21, t, 0);
        test_contract(TC_I8, 1, 9, 90, 21, t, 1);
        test_contract(TC_F16, 2, 19, 33, 50, t, 0);
        test_contract(TC_BF16, 1, 70, 300, 31, t, 1);
    }
    test_sum_of_products(TC_F32, 3, 1000), test_sum_of_products(TC_F32, 2, 20011);
    test_sum_of_products(TC_F32, 40, 7), test_sum_of_products(TC_F64, 3, 9001);
    test_contract_row(20, 40, 700);
    test_contract_row(3, 5, 9);
}

static void test_dtypes(void) {
    static const tc__op wrap[] = {TC_OP_ADD, TC_OP_SUB, TC_OP_MUL};
    for (int k = 0; k < 3; k++) {
        test_narrow_sum(TC_U8, TC_U8, TC_U8, wrap[k], 5003);
        test_narrow_sum(TC_I8, TC_U8, TC_I8, wrap[k], 77);
        test_narrow_sum(TC_I16, TC_I16, TC_I16, wrap[k], 9001);
    }
    static const int narrow[] = {TC_BOOL, TC_U8, TC_I8, TC_I16, TC_F16, TC_BF16};
    for (int k = 0; k < 6; k++) {
        test_narrow(narrow[k], 4096);
        test_narrow(narrow[k], 12);
        if (narrow[k] != TC_BOOL) test_narrow_rows(narrow[k], 5, 300);
        if (narrow[k] != TC_BOOL) test_narrow_rows(narrow[k], 3, 7);
    }
    test_half_values(TC_F16), test_half_values(TC_BF16);
    test_byte_values(TC_F8E4M3), test_byte_values(TC_F8E5M2);
}

int main(int count, char **args) {
    if (count > 1 && !strcmp(args[1], "bench")) {
        bench();
        return 0;
    }
    test_rows_and_columns(), test_places(), test_products(), test_dtypes();
    test_random();
    test_symbols(0);
    test_symbols(1);
    test_loops();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
