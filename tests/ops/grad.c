// Column GRAD of ops.def: every derivative compiles, and is the slope of its op between two points near
// each other. What it gives is of the sizes of the result; 0 = the op is flat where it has a slope.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { N = 64, MOST = 3 };
#define STEP 1e-6

typedef void (*grad_fn)(tc_tensor g, tc_tensor y, const tc_tensor *in, tc_tensor *d);
typedef tc_tensor (*op_fn)(const tc_tensor *in);

// ---- the table: a function per row that makes the result, and one that makes the derivatives ----
// A struct of one number may be given as that number: 0 is the null tensor.
#define GRAD(...)                                                                          \
    { __VA_ARGS__ }
#define DERIVATIVES(name, n, ...)                                                          \
    static void grad_##name(tc_tensor g, tc_tensor y, const tc_tensor *in, tc_tensor *d) { \
        const tc_tensor a = in[0], b = in[1], c = in[2], all[n] = __VA_ARGS__;             \
        (void)g, (void)y, (void)a, (void)b, (void)c;                                       \
        memcpy(d, all, sizeof all);                                                        \
    }
#define MAKE_UNARY(name, ...)                                                              \
    static tc_tensor call_##name(const tc_tensor *in) { return tc_##name(in[0]); }         \
    DERIVATIVES(name, 1, __VA_ARGS__)
#define MAKE_BINARY(name, ...)                                                             \
    static tc_tensor call_##name(const tc_tensor *in) { return tc_##name(in[0], in[1]); }  \
    DERIVATIVES(name, 2, __VA_ARGS__)
#define MAKE_TERNARY(name, ...)                                                            \
    static tc_tensor call_##name(const tc_tensor *in) {                                    \
        return tc_##name(in[0], in[1], in[2]);                                             \
    }                                                                                      \
    DERIVATIVES(name, 3, __VA_ARGS__)
#define MAKE_CAST(name, ...) DERIVATIVES(cast, 1, __VA_ARGS__)
#define MAKE_LAYOUT(name, ...)
#define MAKE_SOURCE(name, ...)
#define MAKE_MOVE(name, ...)
#define MAKE_JOIN(name, ...)
#define MAKE_GATHER(name, ...)
#define MAKE_REDUCE(name, ...)
#define MAKE_CONTRACT(name, ...)
#define MAKE_KERNEL(name, ...)
#define MAKE_EFFECT(name, ...)
#define MAKE_DERIVE(name, ...)
#define MAKE_LOOP(name, ...)
#define MAKE_OPAQUE(name, ...)
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, range, doc)     \
    MAKE_##kind(name, grad)
#pragma GCC diagnostic ignored "-Wmissing-braces"
#include "tables/ops.def"
#undef OP

typedef struct row {
    const char *name, *range, *dtype;
    op_fn call;
    grad_fn grad;
    int arity;
} row;
#undef GRAD
#define ROW_UNARY(name)    call_##name, grad_##name, 1
#define ROW_BINARY(name)   call_##name, grad_##name, 2
#define ROW_TERNARY(name)  call_##name, grad_##name, 3
#define ROW_CAST(name)     NULL, NULL, 0
#define ROW_LAYOUT(name)   NULL, NULL, 0
#define ROW_SOURCE(name)   NULL, NULL, 0
#define ROW_MOVE(name)     NULL, NULL, 0
#define ROW_JOIN(name)     NULL, NULL, 0
#define ROW_GATHER(name)   NULL, NULL, 0
#define ROW_REDUCE(name)   NULL, NULL, 0
#define ROW_CONTRACT(name) NULL, NULL, 0
#define ROW_KERNEL(name)   NULL, NULL, 0
#define ROW_EFFECT(name)   NULL, NULL, 0
#define ROW_DERIVE(name)   NULL, NULL, 0
#define ROW_LOOP(name)     NULL, NULL, 0
#define ROW_OPAQUE(name)   NULL, NULL, 0
static const row rows[] = {
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, range, doc)     \
    {#name, #range, #dtype, ROW_##kind(name)},
#include "tables/ops.def"
#undef OP
};

// ---- points ----
static uint64_t random_state = 1;
static double random_in(double low, double high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(random_state >> 11) * 0x1p-53);
}

static tc_tensor points(tc_ctx *tc, const double *x) {
    return tc_from_data(tc, x, TC_DIMS(N), TC_F64);
}

static void read_f64(tc_tensor t, double *x) {
    CHECK_EQ(tc_read(tc_cast(t, TC_F64), x, N * sizeof *x), TC_OK);
}

// The op where operand `moved` is `by` further on.
static void value_at(tc_ctx *tc, const row *r, double x[MOST][N], int moved, double by,
                     double *y) {
    tc_tensor in[MOST];
    int condition = !strcmp(r->dtype, "DTYPE(where)");
    for (int k = 0; k < MOST; k++) {
        double at[N];
        for (int i = 0; i < N; i++) at[i] = x[k][i] + (k == moved ? by : 0);
        in[k] = points(tc, at);
    }
    if (condition) in[0] = tc_gt_s(in[0], 0);
    read_f64(r->call(in), y);
}

static void check_slope(tc_ctx *tc, const row *r, double x[MOST][N], int k, tc_tensor d,
                        const double *g) {
    double above[N], below[N], slope[N] = {0};
    if (d.id) read_f64(d, slope);
    value_at(tc, r, x, k, STEP, above);
    value_at(tc, r, x, k, -STEP, below);
    for (int i = 0; i < N; i++) {
        double want = (above[i] - below[i]) / (2 * STEP) * g[i];
        if (!(fabs(slope[i] - want) <= 1e-5 * (1 + fabs(want))))
            FAIL("%s by operand %d at %g, %g: %g, not %g", r->name, k, x[0][i], x[1][i],
                 slope[i], want);
    }
}

static void check_row(tc_ctx *tc, const row *r) {
    double low, high, edge, x[MOST][N], g[N], ulp;
    tc_tensor in[MOST], d[MOST];
    int where = !strcmp(r->dtype, "DTYPE(where)");
    REQUIRE(sscanf(r->range, "TEST(%lf, %lf, %lf)", &low, &high, &ulp) == 3);
    edge = (high - low) / 64; // slopes are steep where a domain ends
    for (int k = 0; k < MOST; k++)
        for (int i = 0; i < N; i++) x[k][i] = random_in(low + edge, high - edge);
    for (int i = 0; i < N; i++) g[i] = random_in(0.5, 2);
    for (int k = 0; k < MOST; k++) in[k] = points(tc, x[k]);
    if (where) in[0] = tc_gt_s(in[0], 0);
    r->grad(points(tc, g), r->call(in), in, d);
    for (int k = where; k < r->arity; k++) check_slope(tc, r, x, k, d[k], g);
}

TEST(derivatives_are_slopes) {
    int checked = 0;
    tc_ctx *tc = open_backend("aot_eager");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *dtype = rows[i].dtype;
        int discrete = !strcmp(dtype, "DTYPE(logic)") || !strcmp(dtype, "DTYPE(bits)") ||
                       !strcmp(dtype, "DTYPE(shift)");
        if (!rows[i].call || discrete) continue;
        tc_scope_begin(tc);
        check_row(tc, &rows[i]);
        tc_scope_end(tc);
        if (tc_error(tc)) FAIL("%s: %s", rows[i].name, tc_error_text(tc));
        tc_error_clear(tc);
        checked++;
    }
    CHECK(checked > 50);
    tc_close(tc);
}

// What has no slope, as it is of bools and integers.
TEST(discrete_ops_have_no_derivative) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *dtype = rows[i].dtype;
        if (strcmp(dtype, "DTYPE(logic)") && strcmp(dtype, "DTYPE(bits)") &&
            strcmp(dtype, "DTYPE(shift)"))
            continue;
        tc_tensor in[MOST], d[MOST];
        memset(in, 0, sizeof in);
        rows[i].grad(in[0], in[0], in, d);
        for (int k = 0; k < rows[i].arity; k++)
            if (d[k].id) FAIL("%s has a derivative", rows[i].name);
    }
}

TEST(of_a_cast) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor in[MOST], d;
    in[0] = in[1] = in[2] = line(tc, 4, 0, 1);
    tc_tensor y = tc_cast(in[0], TC_F64);
    grad_cast(tc_ones_like(y), y, in, &d);
    CHECK_EQ(tc_dtype_of(d), TC_F32);
    CHECK_EQ(AT(d, 3), 1);
    tc_close(tc);
}
