// Every public op against references from its definition (ref.h and below), over dtypes and
// layouts, run three ways: eagerly, as a region interpreted, as a region compiled. The first is
// compared with the reference, the others must be the same bits as the first.
// Many ops go into one region, so that a compile serves all of them.
//
// tests/cuda/ops.c has the same cases as regions on a device: it defines OPS_DEVICE, and what is below.
#include "tcompile.h"

#include "halves.h"
#include "harness.h"

#include <sys/mman.h>

#include "ref.h"

#ifndef OPS_DEVICE
static tc_tensor there(tc_tensor t) { return t; } // operands go where the ops run
#endif

// ---- arrays on the host ----
typedef struct array {
    int dtype;
    tc_dims d;
    int64_t n;
    val *at; // row-major
} array;

static int64_t count_of(tc_dims d) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    return n;
}

static array new_array(int dtype, tc_dims d) {
    array a;
    a.dtype = dtype, a.d = d, a.n = count_of(d);
    a.at = (val *)calloc((size_t)a.n + 1, sizeof *a.at);
    return a;
}

static half_format half_of(int dtype) { return dtype == TC_F16 ? half_f16 : half_bf16; }

static byte_format byte_of(int dtype) { return dtype == TC_F8E4M3 ? byte_e4m3 : byte_e5m2; }

static void *pack(const array *a) {
    char *p = (char *)calloc((size_t)a->n + 1, 8);
    for (int64_t i = 0; i < a->n; i++) {
        val v = a->at[i];
        switch (a->dtype) {
        case TC_F64: ((double *)p)[i] = (double)v.f; break;
        case TC_F32: ((float *)p)[i] = (float)v.f; break;
        case TC_F16:
        case TC_BF16:
            ((uint16_t *)p)[i] = half_nearest(half_of(a->dtype), (double)v.f);
            break;
        case TC_F8E4M3:
        case TC_F8E5M2:
            ((uint8_t *)p)[i] = byte_nearest(byte_of(a->dtype), (double)v.f);
            break;
        case TC_I64: ((int64_t *)p)[i] = v.i; break;
        case TC_I32: ((int32_t *)p)[i] = (int32_t)v.i; break;
        case TC_I16: ((int16_t *)p)[i] = (int16_t)v.i; break;
        case TC_I8: ((int8_t *)p)[i] = (int8_t)v.i; break;
        default: ((uint8_t *)p)[i] = (uint8_t)v.i;
        }
    }
    return p;
}

static val unpack(const void *p, int dtype, int64_t i) {
    val v = {0, 0};
    switch (dtype) {
    case TC_F64: v.f = ((const double *)p)[i]; break;
    case TC_F32: v.f = ((const float *)p)[i]; break;
    case TC_F16:
    case TC_BF16: v.f = half_value(half_of(dtype), ((const uint16_t *)p)[i]); break;
    case TC_F8E4M3:
    case TC_F8E5M2: v.f = byte_value(byte_of(dtype), ((const uint8_t *)p)[i]); break;
    case TC_I64: v.i = ((const int64_t *)p)[i]; break;
    case TC_I32: v.i = ((const int32_t *)p)[i]; break;
    case TC_I16: v.i = ((const int16_t *)p)[i]; break;
    case TC_I8: v.i = ((const int8_t *)p)[i]; break;
    default: v.i = ((const uint8_t *)p)[i];
    }
    return v;
}

// ---- random values ----
static uint64_t random_state = 1;
static uint64_t random_bits(void) {
    uint64_t x = random_state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static double random_in(double low, double high) {
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

static val special_int(int t, int k) {
    int64_t low, high;
    val v = {0, 0};
    limits(t, &low, &high);
    const int64_t list[16] = {0,  1, -1, low, high, low + 1, high - 1, 2,
                              -2, 7, -7, 31,  32,   63,      64,       100};
    v.i = wrap_to(t, (uint64_t)list[k % 16]);
    return v;
}

static val special_float(int t, int k) {
    const format f = format_of(t);
    const ld big = two_to(f.highest) * (2 - two_to(-f.digits)), tiny = two_to(f.lowest);
    const ld list[16] = {
        0,     -0.0L, 1,         -1,   (ld)NAN, (ld)INFINITY, -(ld)INFINITY, tiny,
        -tiny, 0.5L,  tiny / 64, 2.5L, -2.5L,   big,          -big,          -tiny / 128};
    val v = {0, 0};
    v.f = is_byte_float(t) ? round_to(t, list[k % 16]) : list[k % 16];
    return v;
}

static val random_val(int t, double low, double high) {
    val v = {0, 0};
    if (is_float(t))
        v.f = round_to(t, (ld)random_in(low, high));
    else if (t == TC_BOOL)
        v.i = (int64_t)(random_bits() >> 63);
    else if (t == TC_U8)
        v.i = (int64_t)(random_bits() % 60);
    else
        v.i = (int64_t)(random_bits() % 101) - 50;
    return v;
}

// ---- layouts ----
enum { PLAIN, TRANSPOSED, STEPPED, EXPANDED, OFFSET, REVERSED, LAYOUTS };
// Ways to lay out operands: all of one layout, or their sizes are special.
enum { WAY_SCALAR = LAYOUTS, WAY_EMPTY, WAY_ONES, WAY_PAIRS, WAYS };

// Tensor of a's elements, laid out so; EXPANDED needs equal rows (see same_rows).
static tc_tensor make_tensor(tc_ctx *tc, const array *a, int layout) {
    array b = *a;
    int rank = a->d.rank;
    int64_t rows = rank ? a->d.size[0] : 1, row = rows ? a->n / rows : 0;
    tc_dims order = a->d;
    if (!rank) layout = PLAIN;
    if (layout == TRANSPOSED) { // base[j, i] = a[i, j], first and last dimension swapped
        int last = rank - 1;
        for (int i = 0; i < rank; i++) order.size[i] = i;
        order.size[0] = last, order.size[last] = 0;
        b.d.size[0] = a->d.size[last], b.d.size[last] = a->d.size[0];
    }
    if (layout == STEPPED) b.d.size[0] = 2 * rows + 1;
    if (layout == OFFSET) b.d.size[0] = rows + 3;
    if (layout == EXPANDED && rows) b.d.size[0] = 1;
    b.n = count_of(b.d);
    b.at = (val *)calloc((size_t)b.n + 1, sizeof *b.at);
    for (int64_t i = 0; i < b.n && a->n; i++) {
        int64_t r = row ? i / row : 0, c = row ? i % row : 0, at[TC_MAX_RANK], left = i,
                from = 0;
        if (layout == TRANSPOSED) {
            for (int k = rank - 1; k >= 0; k--)
                at[k] = left % b.d.size[k], left /= b.d.size[k];
            for (int k = 0; k < rank; k++) from = from * a->d.size[k] + at[order.size[k]];
            b.at[i] = a->at[from];
        } else if (layout == STEPPED)
            b.at[i] = a->at[(r / 2 < rows ? r / 2 : 0) * row + c];
        else if (layout == OFFSET)
            b.at[i] = a->at[(r >= 3 ? r - 3 : 0) * row + c];
        else if (layout == REVERSED)
            b.at[i] = a->at[(rows - 1 - r) * row + c];
        else
            b.at[i] = a->at[i];
    }
    void *data = pack(&b);
    tc_tensor t = there(tc_from_data(tc, data, b.d, (tc_dtype)b.dtype));
    if (layout == TRANSPOSED) t = tc_permute(t, order);
    if (layout == STEPPED) t = tc_slice(t, 0, 0, rows * 2, 2);
    if (layout == OFFSET) t = tc_narrow(t, 0, 3, rows);
    if (layout == REVERSED && rows) t = tc_slice(t, 0, -1, TC_END, -1);
    if (layout == EXPANDED) t = tc_expand(t, a->d);
    free(data), free(b.at);
    return t;
}

// What is narrower in memory than in a register differs from its class by loads and stores alone.
static int is_narrow(int dtype) {
    return dtype == TC_I8 || dtype == TC_I16 || is_half(dtype) || is_byte_float(dtype);
}

static int way_is_tried(int dtype, int way) {
    return !is_narrow(dtype) || way == PLAIN || way == TRANSPOSED || way == WAY_PAIRS ||
           way == WAY_SCALAR;
}

static void same_rows(array *a) {
    int64_t row = a->d.rank && a->d.size[0] ? a->n / a->d.size[0] : a->n;
    for (int64_t i = row; i < a->n; i++) a->at[i] = a->at[i - row];
}

// ---- cases and batches ----
enum { MAX_IN = 4, MAX_BATCH = 24 };

typedef struct op_case op_case;
typedef tc_tensor (*case_fn)(const op_case *c, tc_ctx *tc, const tc_tensor *in);
struct op_case {
    char name[96];
    int n_in, layout[MAX_IN];
    array in[MAX_IN];
    case_fn call;
    const void *fn; // for call
    int64_t a[4];
    tc_dims d;
    double s;
    array expected;
    double ulp; // tolerance in units of the last place of the result
    ld *allow;  // and by element, absolute; NULL = none
    ld once; // of a half that is rounded once: the absolute error before that; 0 = not asked
    int *ran; // by run: how often the case gave a result; NULL = not counted
};

typedef struct batch {
    op_case at[MAX_BATCH];
    int n;
} batch;

static batch current;

enum { RUN_EAGER, RUN_INTERP, RUN_CPU, RUNS };
static const char *const run_names[RUNS] = {"eager", "region, interpreted",
                                            "region, compiled"};
static tc_ctx *run_context[RUNS];
static int region_number;
static int compiled_each = 1, compiled_from; // of regions, where all is wanted

// Halves are rounded where they are stored, which regions do less often than eager code; but every
// second one is told to round as that does, and then gives its bits.
static int rounds_each_op(void) { return region_number % 2; }

#ifdef OPS_DEVICE
enum { FIRST_RUN = RUN_CPU };
static int is_run(int run) { return run == RUN_CPU; }
#else
enum { FIRST_RUN = RUN_EAGER };
// Every eighth region is compiled too; all of them, where all is wanted, but for ops of one dtype in many ways.
static int compiles_all(void) { return test_all() && !TEST_SANITIZED; }
static int is_run(int run) {
    if (run != RUN_CPU) return 1;
    if (!compiles_all()) return region_number % 8 == 1;
    return (region_number - compiled_from) % compiled_each == 0;
}

// All cases are wanted, and each batch is run as it comes.
static int is_wanted(const op_case *c) { return c != NULL; }
static int is_worth_a_region(const batch *b) { return b->n > 0; }
static double least_ulp(const op_case *c) { return c->ulp; }

static tc_ctx *open_context(int run) {
    tc_config config = tc_config_default();
    config.backend = run == RUN_CPU ? "cpu" : "aot_eager";
    config.threads = run == RUN_CPU ? 2 : 1;
    config.no_disk_cache = 1;
    return tc_open(&config);
}
#endif

static tc_ctx *context_of(int run) {
    if (!run_context[run]) run_context[run] = open_context(run);
    return run_context[run];
}

static void close_contexts(void) {
    if (run_context[RUN_CPU] && tc_stats_get(run_context[RUN_CPU]).fallbacks)
        FAIL("%d kernels up to batch %d did not compile",
             (int)tc_stats_get(run_context[RUN_CPU]).fallbacks, region_number);
    for (int i = 0; i < RUNS; i++) tc_close(run_context[i]), run_context[i] = NULL;
}

// Bytes of each result; a failing op has NULL.
static void run_batch(batch *b, int run, void **out) {
    tc_ctx *tc = context_of(run);
    tc_tensor in[MAX_BATCH][MAX_IN], result[MAX_BATCH];
    char name[32];
    tc_scope_begin(tc);
    for (int i = 0; i < b->n; i++)
        for (int k = 0; k < b->at[i].n_in; k++)
            in[i][k] = make_tensor(tc, &b->at[i].in[k], b->at[i].layout[k]);
    snprintf(name, sizeof name, "batch %d", region_number);
    tc_options options = tc_options_default();
    options.round_each_op = rounds_each_op();
    if (run) tc_trace_begin_at(tc, name, &options, "ops.c", 1);
    for (int i = 0; i < b->n; i++) {
        result[i] = b->at[i].call(&b->at[i], tc, in[i]);
        if (!tc_error(tc)) continue;
        FAIL("%s (%s): %s: %s", b->at[i].name, run_names[run], tc_status_name(tc_error(tc)),
             tc_error_text(tc));
        tc_error_clear(tc);
    }
    if (run && tc_trace_end(tc)) {
        FAIL("%s ... %s (%s): %s", b->at[0].name, b->at[b->n - 1].name, run_names[run],
             tc_error_text(tc));
        tc_error_clear(tc);
    }
    for (int i = 0; i < b->n; i++) {
        const array *e = &b->at[i].expected;
        tc_dims d = tc_shape(result[i]);
        out[i] = NULL;
        if (!result[i].id) continue;
        int same = d.rank == e->d.rank && (int)tc_dtype_of(result[i]) == e->dtype;
        for (int k = 0; same && k < d.rank; k++) same = d.size[k] == e->d.size[k];
        if (!same) {
            FAIL("%s (%s): %s of rank %d and %lld elements, not %s of rank %d and %lld",
                 b->at[i].name, run_names[run], tc_dtype_name(tc_dtype_of(result[i])),
                 d.rank, (long long)tc_numel(result[i]), tc_dtype_name((tc_dtype)e->dtype),
                 e->d.rank, (long long)e->n);
            continue;
        }
        size_t bytes = (size_t)e->n * tc_dtype_bytes((tc_dtype)e->dtype);
        out[i] = calloc(bytes + 8, 1);
        if (!tc_read(result[i], out[i], bytes)) continue;
        FAIL("%s (%s): read: %s", b->at[i].name, run_names[run], tc_error_text(tc));
        tc_error_clear(tc);
        free(out[i]), out[i] = NULL;
    }
    tc_scope_end(tc);
}

static int class_of(ld x) { return x != x ? 3 : x - x != 0 ? (x > 0 ? 1 : 2) : 0; }

static void describe_inputs(const op_case *c, int64_t i, char text[200]) {
    int n = 0;
    text[0] = 0;
    for (int k = 0; k < c->n_in && n < 150; k++)
        if (c->in[k].n == c->expected.n)
            n += snprintf(text + n, 200 - (size_t)n, " %.9Lg",
                          is_float(c->in[k].dtype) ? c->in[k].at[i].f
                                                   : (ld)c->in[k].at[i].i);
}

// One element of the eager result against the reference.
static int element_ok(const op_case *c, int64_t i, val got) {
    val want = c->expected.at[i];
    int t = c->expected.dtype;
    if (!is_float(t)) return got.i == want.i;
    ld rounded = round_to(t, want.f);
    if (class_of(got.f) != class_of(rounded)) {
        // At the edge of overflow the tolerance decides.
        const format f = format_of(t);
        ld edge = two_to(f.highest) * (2 - 8 * two_to(-f.digits));
        ld a = got.f < 0 ? -got.f : got.f, b = rounded < 0 ? -rounded : rounded;
        return c->ulp > 0 && a >= edge && b >= edge && (got.f < 0) == (rounded < 0);
    }
    if (class_of(rounded)) return 1;
    if (c->ulp == 0 && !c->allow) return got.f == rounded;
    ld distance = got.f > want.f ? got.f - want.f : want.f - got.f;
    if (c->once > 0 && is_half(t) && (int)FIRST_RUN == RUN_EAGER)
        return distance <= ulp_at(t, want.f) / 2 + c->once;
    ld allowed = (ld)(c->ulp + 0.5) * ulp_at(t, want.f);
    if (c->allow && c->allow[i] > allowed) allowed = c->allow[i];
    return distance <= allowed;
}

static void check_reference(const op_case *c, const void *got) {
    int bad = 0;
    char inputs[200], layouts[32] = "";
    for (int k = 0; k < c->n_in; k++)
        snprintf(layouts + strlen(layouts), 8, "%d ", c->layout[k]);
    for (int64_t i = 0; got && i < c->expected.n; i++) {
        val v = unpack(got, c->expected.dtype, i), want = c->expected.at[i];
        if (element_ok(c, i, v)) continue;
        if (++bad > 2) continue;
        describe_inputs(c, i, inputs);
        if (is_float(c->expected.dtype))
            FAIL("%s [%lld] of%s: %.9Lg, not %.12Lg (%.3Lg ulp, allowed %g) layouts %s",
                 c->name, (long long)i, inputs, v.f, want.f,
                 (v.f - want.f) / ulp_at(c->expected.dtype, want.f), c->ulp, layouts);
        else
            FAIL("%s [%lld] of%s: %lld, not %lld; layouts %s", c->name, (long long)i,
                 inputs, (long long)v.i, (long long)want.i, layouts);
    }
    if (bad > 2) FAIL("%s: %d elements of %lld", c->name, bad, (long long)c->expected.n);
}

static void check_same(const op_case *c, const void *a, const void *b, const char *how) {
    size_t size = tc_dtype_bytes((tc_dtype)c->expected.dtype);
    int bad = 0;
    for (int64_t i = 0; a && b && i < c->expected.n; i++) {
        const char *p = (const char *)a + (size_t)i * size,
                   *q = (const char *)b + (size_t)i * size;
        val v = unpack(a, c->expected.dtype, i), w = unpack(b, c->expected.dtype, i);
        if (!memcmp(p, q, size)) continue;
        if (is_float(c->expected.dtype) && v.f != v.f && w.f != w.f) continue;
        char inputs[200];
        describe_inputs(c, i, inputs);
        if (++bad == 1)
            FAIL("%s [%lld] of%s: %s %.17Lg, not %.17Lg", c->name, (long long)i, inputs,
                 how, is_float(c->expected.dtype) ? w.f : (ld)w.i,
                 is_float(c->expected.dtype) ? v.f : (ld)v.i);
    }
    if (bad > 1)
        FAIL("%s (%s): %d elements of %lld", c->name, how, bad, (long long)c->expected.n);
}

static void case_free(op_case *c) {
    for (int k = 0; k < c->n_in; k++) free(c->in[k].at);
    free(c->expected.at), free(c->allow);
}

static void drop_unwanted(batch *b) {
    int n = 0;
    for (int i = 0; i < b->n; i++) {
        if (is_wanted(&b->at[i]))
            b->at[n++] = b->at[i];
        else
            case_free(&b->at[i]);
    }
    b->n = n;
}

static void run_current(void) {
    batch *b = &current;
    void *out[RUNS][MAX_BATCH];
    memset(out, 0, sizeof out);
    region_number++;
    for (int run = 0; run < RUNS; run++)
        if (is_run(run)) run_batch(b, run, out[run]);
    for (int i = 0; i < b->n; i++) {
        b->at[i].ulp = least_ulp(&b->at[i]);
        check_reference(&b->at[i], out[FIRST_RUN][i]);
        int half = is_half(b->at[i].expected.dtype) && !rounds_each_op();
        if (half) check_reference(&b->at[i], out[1][i]);
        check_same(&b->at[i], out[half][i], out[1][i], run_names[1]);
        check_same(&b->at[i], out[half][i], out[2][i], run_names[2]);
        for (int run = 0; run < RUNS; run++) {
            if (b->at[i].ran) b->at[i].ran[run] += out[run][i] != NULL;
            free(out[run][i]);
        }
        case_free(&b->at[i]);
    }
    b->n = 0;
    if (region_number % 20 == 0) close_contexts();
}

static void flush(void) {
    drop_unwanted(&current);
    if (is_worth_a_region(&current)) run_current();
}

static op_case *add_case(case_fn call, const char *format, ...) {
    if (current.n == MAX_BATCH) flush();
    op_case *c = &current.at[current.n++];
    va_list list;
    memset(c, 0, sizeof *c);
    va_start(list, format);
    vsnprintf(c->name, sizeof c->name, format, list);
    va_end(list);
    c->call = call;
    return c;
}

static void finish(void) {
    drop_unwanted(&current);
    if (current.n) run_current();
    close_contexts();
}

// ---- the table of ops, for what it promises ----
typedef tc_tensor (*unary_fn)(tc_tensor, const char *, int);
typedef tc_tensor (*binary_fn)(tc_tensor, tc_tensor, const char *, int);
typedef tc_tensor (*ternary_fn)(tc_tensor, tc_tensor, tc_tensor, const char *, int);

typedef struct row {
    const char *id, *name, *kind, *test;
    unary_fn f1;
    binary_fn f2;
    ternary_fn f3;
} row;
#define FN_UNARY(name)    tc_##name##_at, NULL, NULL
#define FN_BINARY(name)   NULL, tc_##name##_at, NULL
#define FN_TERNARY(name)  NULL, NULL, tc_##name##_at
#define FN_CAST(name)     NULL, NULL, NULL
#define FN_LAYOUT(name)   NULL, NULL, NULL
#define FN_SOURCE(name)   NULL, NULL, NULL
#define FN_MOVE(name)     NULL, NULL, NULL
#define FN_JOIN(name)     NULL, NULL, NULL
#define FN_GATHER(name)   NULL, NULL, NULL
#define FN_REDUCE(name)   NULL, NULL, NULL
#define FN_CONTRACT(name) NULL, NULL, NULL
#define FN_KERNEL(name)   NULL, NULL, NULL
#define FN_EFFECT(name)   NULL, NULL, NULL
#define FN_DERIVE(name)   NULL, NULL, NULL
#define FN_LOOP(name)     NULL, NULL, NULL
#define FN_OPAQUE(name)   NULL, NULL, NULL
static const row rows[] = {
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, range, doc)     \
    {#id, #name, #kind, #range, FN_##kind(name)},
#include "tables/ops.def"
#undef OP
};
enum { ROWS = (int)(sizeof rows / sizeof *rows) };

static void row_range(const row *r, double *low, double *high, double *ulp) {
    *low = -8, *high = 8, *ulp = 0;
    if (sscanf(r->test, "TEST(%lf, %lf, %lf)", low, high, ulp) != 3)
        FAIL("%s: cannot read %s", r->id, r->test);
}

static const ref_op *ref_of(const char *name) {
    for (int i = 0; i < REFS; i++)
        if (!strcmp(refs[i].name, name)) return &refs[i];
    return NULL;
}

// ---- elementwise ----
static tc_tensor call_row(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    const row *r = (const row *)c->fn;
    (void)tc;
    if (r->f1) return r->f1(in[0], c->name, 1);
    if (r->f2) return r->f2(in[0], in[1], c->name, 1);
    return r->f3(in[0], in[1], in[2], c->name, 1);
}

// Sizes of operand k and the result for a way to lay out.
static tc_dims way_dims(int way, int k) {
    if (way == WAY_SCALAR) return TC_SCALAR;
    if (way == WAY_EMPTY) return TC_DIMS(0, 24);
    if (way == WAY_ONES) return TC_DIMS(1, 24, 1, 20, 1);
    if (way != WAY_PAIRS) return TC_DIMS(24, 20);
    return k == 0 ? TC_DIMS(24, 1) : k == 1 ? TC_DIMS(20) : TC_DIMS(1, 1);
}

// Element of operand k behind element i of the result [24, 20].
static int64_t way_from(int way, int k, int64_t i) {
    if (way != WAY_PAIRS) return i;
    return k == 0 ? i / 20 : k == 1 ? i % 20 : 0;
}

static array operand(const row *r, const ref_op *o, int k, int dtype, int way, double low,
                     double high) {
    array a = new_array(dtype, way_dims(way, k));
    int pairs =
        o->arity > 1 ? 256 : 16; // the first elements are special values, in all pairs
    for (int64_t i = 0; i < a.n; i++) {
        int s = o->arity == 1 ? (int)i
                : k == 0      ? (int)i / 16
                : k == 1      ? (int)i % 16
                              : (int)(i * 7);
        int special = way == WAY_PAIRS ? i % 3 == 0 : i < pairs;
        if (way == WAY_SCALAR)
            special = (int)(random_bits() % 4) == 0, s = (int)(random_bits() % 16);
        if (!special)
            a.at[i] = random_val(dtype, low, high);
        else
            a.at[i] = is_float(dtype) ? special_float(dtype, s) : special_int(dtype, s);
    }
    (void)r;
    return a;
}

// Trigonometry of the largest floats is not promised.
static int far_out(const row *r, const op_case *c, int64_t i) {
    static const char *const periodic[] = {"sin", "cos", "tan"};
    for (int k = 0; k < 3; k++)
        if (!strcmp(r->name, periodic[k]) && is_float(c->in[0].dtype)) {
            ld x = c->in[0].at[i].f;
            return x > 1e6L || x < -1e6L;
        }
    return 0;
}

// How often each elementwise op ran in each dtype, way and executor. The tests are processes
// of their own, so the table is shared.
typedef int counts[TC_DTYPE_COUNT][WAYS][RUNS];
static counts *count_table;

__attribute__((constructor)) static void make_count_table(void) {
    void *at = mmap(NULL, ROWS * sizeof *count_table, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) abort();
    count_table = (counts *)at;
}

static void elementwise(const row *r, const ref_op *o, const int *dtype, int way) {
    int t = compute_dtype(o, dtype);
    double low, high, ulp;
    if (t < 0) return;
    row_range(r, &low, &high, &ulp);
    char types[32] = "";
    for (int k = 0; k < o->arity; k++)
        snprintf(types + strlen(types), 8, " %s", tc_dtype_name((tc_dtype)dtype[k]));
    op_case *c = add_case(call_row, "%s%s, way %d", r->name, types, way);
    c->fn = r, c->n_in = o->arity;
    c->ran = count_table[r - rows][dtype[o->arity - 1]][way];
    c->ulp = o->ulp < ulp || ulp == 0 ? o->ulp : ulp;
    if (o->ulp > c->ulp) c->ulp = o->ulp;
    for (int k = 0; k < o->arity; k++) {
        c->in[k] = operand(r, o, k, dtype[k], way, low, high);
        c->layout[k] = way < LAYOUTS ? (k == 0 ? way : (way + k * 2 - 1) % LAYOUTS) : PLAIN;
        if (c->layout[k] == EXPANDED) same_rows(&c->in[k]);
    }
    tc_dims d = way == WAY_PAIRS ? TC_DIMS(24, 20) : way_dims(way, 0);
    if (way == WAY_PAIRS && o->arity == 1) d = TC_DIMS(24, 1);
    c->expected = new_array(result_dtype(o, t), d);
    for (int64_t i = 0; i < c->expected.n; i++) {
        val in[3];
        for (int k = 0; k < o->arity; k++) {
            int64_t from = o->arity == 1 ? i : way_from(way, k, i);
            int to = o->rule == CHOICE && k == 0 ? TC_BOOL : t;
            in[k] = convert(c->in[k].at[from], dtype[k], to);
        }
        if (o->arity == 1 && far_out(r, c, i)) c->in[0].at[i].f = 0, in[0].f = 0;
        c->expected.at[i] = is_float(t) ? o->f(t, in) : o->i(t, in);
        if (o->rule != COMPARES && o->rule != LOGIC) continue;
        c->expected.at[i].f = 0;
    }
}

// Two operands in the same dtype, and pairs of different ones.
static const int mixed[][3] = {
    {TC_I32, TC_F32, TC_F32}, {TC_F32, TC_U8, TC_I64},    {TC_BOOL, TC_F32, TC_I32},
    {TC_F32, TC_F64, TC_F32}, {TC_I64, TC_F32, TC_F64},   {TC_U8, TC_I64, TC_I32},
    {TC_I32, TC_BOOL, TC_U8}, {TC_BOOL, TC_I64, TC_U8},   {TC_U8, TC_I8, TC_I8},
    {TC_I16, TC_I8, TC_U8},   {TC_F16, TC_BF16, TC_BF16}, {TC_BF16, TC_I64, TC_I16},
    {TC_I8, TC_F16, TC_F32},  {TC_I32, TC_I16, TC_BOOL},
};

static void all_rows(const int *dtype, int way) {
    for (int i = 0; i < ROWS; i++) {
        const ref_op *o = ref_of(rows[i].name);
        int d[3] = {dtype[0], dtype[1], dtype[2]};
        if (!o || (!rows[i].f1 && !rows[i].f2 && !rows[i].f3)) continue;
        if (rows[i].f1 && dtype[0] != dtype[1]) continue; // there is nothing to mix
        if (o->rule == CHOICE) d[0] = TC_BOOL;
        elementwise(&rows[i], o, d, way);
    }
    flush();
}

// An op's text is the same however its operands lie: each is compiled in half of the ways, and each way with half of the
// ops, in turn. What moves data, and products, are so too: the next dtype compiles what this one does not.
static void compile_half(int dtype, int turn) {
    compiled_each = is_narrow(dtype) ? 1 : 2, compiled_from = region_number + turn;
}

static void all_ways(int dtype) {
    int d[3] = {dtype, dtype, dtype};
    for (int way = 0; way < WAYS; way++) {
        compile_half(dtype, way);
        if (way_is_tried(dtype, way)) all_rows(d, way);
    }
    compiled_each = 1;
    finish();
}

TEST(elementwise_bool) { all_ways(TC_BOOL); }
TEST(elementwise_u8) { all_ways(TC_U8); }
TEST(elementwise_i8) { all_ways(TC_I8); }
TEST(elementwise_i16) { all_ways(TC_I16); }
TEST(elementwise_i32) { all_ways(TC_I32); }
TEST(elementwise_i64) { all_ways(TC_I64); }
TEST(elementwise_f8e4m3) { all_ways(TC_F8E4M3); }
TEST(elementwise_f8e5m2) { all_ways(TC_F8E5M2); }
TEST(elementwise_f16) { all_ways(TC_F16); }
TEST(elementwise_bf16) { all_ways(TC_BF16); }
TEST(elementwise_f32) { all_ways(TC_F32); }
TEST(elementwise_f64) { all_ways(TC_F64); }
TEST(elementwise_mixed) {
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) all_rows(mixed[i], PLAIN);
    finish();
}

// Results of f32 from overflow down to what is below the least normal number: no function falls to
// 0 before its result does.
static void tail(const row *r, const ref_op *o) {
    op_case *c = add_case(call_row, "%s, tail", r->name);
    c->fn = r, c->n_in = 1, c->ulp = 64;
    c->in[0] = new_array(TC_F32, TC_DIMS(100, 100)), c->layout[0] = PLAIN;
    c->expected = new_array(TC_F32, TC_DIMS(100, 100));
    c->allow = (ld *)calloc(10000, sizeof *c->allow);
    for (int64_t i = 0; i < 10000; i++) {
        val x;
        memset(&x, 0, sizeof x);
        x.f = (ld)(float)((double)(i - 5000) * 0.0221);
        c->in[0].at[i] = x;
        c->expected.at[i] = o->f(TC_F32, &x);
        ld want = c->expected.at[i].f;
        c->allow[i] = two_to(-126) + two_to(-13) * (want < 0 ? -want : want);
    }
}

TEST(tails) {
    for (int i = 0; i < ROWS; i++) {
        static const int single[3] = {TC_F32, TC_F32, TC_F32};
        const ref_op *o = ref_of(rows[i].name);
        if (o && rows[i].f1 && compute_dtype(o, single) == TC_F32 &&
            result_dtype(o, TC_F32) == TC_F32)
            tail(&rows[i], o);
    }
    finish();
}

// ---- casts ----
static tc_tensor call_cast(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return tc_cast(in[0], (tc_dtype)c->a[0]);
}

TEST(casts) {
    for (int from = 0; from <= TC_F64; from++)
        for (int to = 0; to <= TC_F64; to++) {
            op_case *c = add_case(call_cast, "cast %s to %s", tc_dtype_name((tc_dtype)from),
                                  tc_dtype_name((tc_dtype)to));
            c->n_in = 1, c->a[0] = to, c->layout[0] = (from + to) % LAYOUTS;
            c->in[0] = new_array(from, TC_DIMS(12, 11));
            for (int i = 0; i < 132; i++) {
                static const double edges[] = {127.5,
                                               255.5,
                                               256,
                                               -0.5,
                                               -0.99,
                                               0.99,
                                               2147483647,
                                               2147483648.0,
                                               -2147483648.0,
                                               -2147483649.0,
                                               9223372036854775807.0,
                                               -9223372036854775808.0,
                                               1e10,
                                               -1e10,
                                               1e19,
                                               -1e19,
                                               16777217,
                                               3e38};
                val v = random_val(from, -300, 300);
                if (i < 16)
                    v = is_float(from) ? special_float(from, i) : special_int(from, i);
                else if (i < 34 && is_float(from))
                    v.f = round_to(from, (ld)edges[i - 16]);
                else if (i < 34)
                    v.i = wrap_to(from, random_bits() >> (i - 16));
                c->in[0].at[i] = v;
            }
            if (c->layout[0] == EXPANDED) c->layout[0] = PLAIN;
            c->expected = new_array(to, TC_DIMS(12, 11));
            for (int i = 0; i < 132; i++)
                c->expected.at[i] = convert(c->in[0].at[i], from, to);
        }
    finish();
}

// ---- scalar operands ----
typedef tc_tensor (*scalar_fn)(tc_tensor, double, const char *, int);
typedef struct scalar_op {
    const char *name, *base;
    scalar_fn fn;
    int left;
} scalar_op;
static const scalar_op scalar_ops[] = {
    {"add_s", "add", tc_add_s_at, 0},
    {"sub_s", "sub", tc_sub_s_at, 0},
    {"mul_s", "mul", tc_mul_s_at, 0},
    {"div_s", "div", tc_div_s_at, 0},
    {"floor_divide_s", "floor_divide", tc_floor_divide_s_at, 0},
    {"remainder_s", "remainder", tc_remainder_s_at, 0},
    {"fmod_s", "fmod", tc_fmod_s_at, 0},
    {"pow_s", "pow", tc_pow_s_at, 0},
    {"maximum_s", "maximum", tc_maximum_s_at, 0},
    {"minimum_s", "minimum", tc_minimum_s_at, 0},
    {"eq_s", "eq", tc_eq_s_at, 0},
    {"ne_s", "ne", tc_ne_s_at, 0},
    {"lt_s", "lt", tc_lt_s_at, 0},
    {"le_s", "le", tc_le_s_at, 0},
    {"gt_s", "gt", tc_gt_s_at, 0},
    {"ge_s", "ge", tc_ge_s_at, 0},
    {"bitwise_and_s", "bitwise_and", tc_bitwise_and_s_at, 0},
    {"bitwise_or_s", "bitwise_or", tc_bitwise_or_s_at, 0},
    {"bitwise_xor_s", "bitwise_xor", tc_bitwise_xor_s_at, 0},
    {"bitwise_left_shift_s", "bitwise_left_shift", tc_bitwise_left_shift_s_at, 0},
    {"bitwise_right_shift_s", "bitwise_right_shift", tc_bitwise_right_shift_s_at, 0},
    {"rsub_s", "sub", tc_rsub_s_at, 1},
    {"rdiv_s", "div", tc_rdiv_s_at, 1},
    {"rpow_s", "pow", tc_rpow_s_at, 1},
    {"clamp_min", "maximum", tc_clamp_min_at, 0},
    {"clamp_max", "minimum", tc_clamp_max_at, 0},
};

static tc_tensor call_scalar(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return ((const scalar_op *)c->fn)->fn(in[0], c->s, c->name, 1);
}

// A whole s keeps the dtype (bool becomes i64), another one raises integers to f32.
static int scalar_dtype(int t, double s) {
    if (is_float(t)) return t;
    if (s != (double)(int64_t)s) return TC_F32;
    return t == TC_BOOL ? TC_I64 : t;
}

static void scalar_case(const scalar_op *p, int dtype, double s) {
    const ref_op *o = ref_of(p->base);
    const row *r = NULL;
    int t = scalar_dtype(dtype, s), both[2] = {t, t};
    double low, high, ulp;
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, p->base)) r = &rows[i];
    if (!CHECK(o && r) || compute_dtype(o, both) < 0) return;
    t = compute_dtype(o, both);
    row_range(r, &low, &high, &ulp);
    op_case *c =
        add_case(call_scalar, "%s %s %g", p->name, tc_dtype_name((tc_dtype)dtype), s);
    c->fn = p, c->s = s, c->n_in = 1, c->ulp = o->ulp;
    c->in[0] = new_array(dtype, TC_DIMS(5, 13));
    c->expected = new_array(result_dtype(o, t), TC_DIMS(5, 13));
    for (int i = 0; i < 65; i++) {
        val in[2], *x = &c->in[0].at[i], v = {0, 0};
        if (i < 16)
            *x = is_float(dtype) ? special_float(dtype, i) : special_int(dtype, i);
        else
            *x = random_val(dtype, low, high);
        v.f = (ld)s;
        if (is_float(t))
            v.f = round_to(is_half(t) ? TC_F32 : t, v.f);
        else
            v.i = wrap_to(t, (uint64_t)(int64_t)s);
        in[p->left] = convert(*x, dtype, t);
        in[!p->left] = v;
        c->expected.at[i] = is_float(t) ? o->f(t, in) : o->i(t, in);
        if (result_dtype(o, t) == TC_BOOL) c->expected.at[i].f = 0;
    }
}

TEST(scalars) {
    static const double values[] = {0, 1, -1, 2, 3, 0.5, -2.5, 7};
    static const int dtypes[] = {TC_F32, TC_I32, TC_F64,  TC_I64, TC_U8,
                                 TC_F16, TC_I8,  TC_BF16, TC_I16, TC_BOOL};
    for (int t = 0; t < 10; t++) {
        for (size_t i = 0; i < sizeof scalar_ops / sizeof *scalar_ops; i++)
            for (int k = 0; k < 8; k++) {
                if (dtypes[t] == TC_U8 && values[k] < 0) continue;
                if ((t + (int)i + k) % 2) continue; // the next dtype has the others
                scalar_case(&scalar_ops[i], dtypes[t], values[k]);
            }
        flush();
    }
    finish();
}

// ---- movement: where element `o` of the result comes from; 0 = it is the fill ----
typedef int (*move_map)(const op_case *c, const int64_t *o, int64_t *from);
typedef struct move {
    const char *name;
    case_fn call;
    move_map map;
    tc_dims out;
} move;

#define CALL(name, expr)                                                                   \
    static tc_tensor name(const op_case *c, tc_ctx *tc, const tc_tensor *in) {             \
        tc_tensor x = in[0];                                                               \
        (void)c, (void)tc, (void)x;                                                        \
        return (expr);                                                                     \
    }
#define MAP(name, ...)                                                                     \
    static int name(const op_case *c, const int64_t *o, int64_t *f) {                      \
        (void)c, (void)o, (void)f;                                                         \
        __VA_ARGS__;                                                                       \
        return 1;                                                                          \
    }
// x is [4, 5, 6]. flat(): an index by its row-major number.
static void flat(int64_t n, int64_t *f) { f[0] = n / 30, f[1] = n / 6 % 5, f[2] = n % 6; }
#define SAME f[0] = o[0], f[1] = o[1], f[2] = o[2]

static tc_tensor join(tc_tensor (*fn)(const tc_tensor *, int, int, const char *, int),
                      int dim, tc_tensor a, tc_tensor b, tc_tensor d) {
    tc_tensor list[3];
    list[0] = a, list[1] = b, list[2] = d;
    return fn(list, 3, dim, "join", 1);
}
static tc_tensor piece(int n, tc_tensor *list, int which) {
    return n > which ? list[which] : tc_null();
}

static tc_tensor split_piece(tc_tensor x) {
    tc_tensor list[4];
    return piece(tc_split(x, 2, 1, list, 4), list, 2);
}
static tc_tensor chunk_piece(tc_tensor x) {
    tc_tensor list[4];
    return piece(tc_chunk(x, 4, 2, list, 4), list, 1);
}

CALL(c_reshape, tc_reshape(x, TC_DIMS(8, -1)))
MAP(m_reshape, flat(o[0] * 15 + o[1], f))
CALL(c_flatten, tc_flatten(x, 1, -1))
MAP(m_flatten, flat(o[0] * 30 + o[1], f))
CALL(c_squeeze, tc_squeeze(tc_unsqueeze(x, 1), 1))
CALL(c_squeeze_all, tc_squeeze_all(tc_unsqueeze(tc_unsqueeze(x, 0), -1)))
MAP(m_same, SAME)
CALL(c_unsqueeze, tc_unsqueeze(x, -1))
CALL(c_permute, tc_permute(x, TC_DIMS(2, 0, -2)))
MAP(m_permute, f[2] = o[0], f[0] = o[1], f[1] = o[2])
CALL(c_transpose, tc_transpose(x, 0, -1))
MAP(m_transpose, f[2] = o[0], f[1] = o[1], f[0] = o[2])
CALL(c_t, tc_t(tc_select(x, 0, 1)))
MAP(m_t, f[0] = 1, f[1] = o[1], f[2] = o[0])
CALL(c_movedim, tc_movedim(x, 0, -1))
MAP(m_movedim, f[0] = o[2], f[1] = o[0], f[2] = o[1])
CALL(c_expand, tc_expand(tc_narrow(x, 1, 2, 1), TC_DIMS(2, -1, 3, -1)))
MAP(m_expand, f[0] = o[1], f[1] = 2, f[2] = o[3])
CALL(c_broadcast_to, tc_broadcast_to(tc_narrow(x, 0, 3, 1), TC_DIMS(7, 5, 6)))
MAP(m_broadcast_to, f[0] = 3, f[1] = o[1], f[2] = o[2])
CALL(c_slice, tc_slice(x, 2, -5, 6, 2))
MAP(m_slice, SAME, f[2] = 1 + 2 * o[2])
CALL(c_slice_back, tc_slice(x, 1, -1, 0, -2))
MAP(m_slice_back, SAME, f[1] = 4 - 2 * o[1])
CALL(c_slice_none, tc_slice(x, 1, 4, 2, 1))
CALL(c_slice_clipped, tc_slice(x, 0, -100, 100, 3))
MAP(m_slice_clipped, SAME, f[0] = 3 * o[0])
CALL(c_select, tc_select(x, 1, -2))
MAP(m_select, f[0] = o[0], f[1] = 3, f[2] = o[1])
CALL(c_narrow, tc_narrow(x, 2, 1, 4))
MAP(m_narrow, SAME, f[2] = 1 + o[2])
CALL(c_flip, tc_flip(x, TC_DIMS(0, -1)))
MAP(m_flip, f[0] = 3 - o[0], f[1] = o[1], f[2] = 5 - o[2])
CALL(c_roll, tc_roll(x, 7, 1))
MAP(m_roll, SAME, f[1] = (o[1] + 3) % 5)
CALL(c_roll_back, tc_roll(x, -2, 2))
MAP(m_roll_back, SAME, f[2] = (o[2] + 2) % 6)
CALL(c_pad, tc_pad(x, TC_DIMS(1, 0, -1), TC_DIMS(0, 2, 3), 1))
MAP(m_pad, f[0] = o[0] - 1, f[1] = o[1], f[2] = o[2] + 1;
    if (f[0] < 0 || f[1] >= 5 || f[2] >= 6) return 0)
CALL(c_cat, join(tc_cat_at, 1, x, tc_narrow(x, 1, 0, 2), tc_narrow(x, 1, 4, 1)))
MAP(m_cat, SAME, f[1] = o[1] < 5 ? o[1] : o[1] < 7 ? o[1] - 5 : 4)
CALL(c_cat_empty, join(tc_cat_at, 0, x, tc_narrow(x, 0, 0, 0), x))
MAP(m_cat_empty, SAME, f[0] = o[0] % 4)
CALL(c_stack, join(tc_stack_at, 2, x, tc_flip(x, TC_DIMS(0)), x))
MAP(m_stack, f[0] = o[2] == 1 ? 3 - o[0] : o[0], f[1] = o[1], f[2] = o[3])
CALL(c_split, split_piece(x))
MAP(m_split, SAME, f[1] = 4)
CALL(c_chunk, chunk_piece(x))
MAP(m_chunk, SAME, f[2] = 2 + o[2])
CALL(c_unfold, tc_unfold(x, 2, 3, 2))
MAP(m_unfold, f[0] = o[0], f[1] = o[1], f[2] = 2 * o[2] + o[3])
CALL(c_tile, tc_tile(x, TC_DIMS(2, 1, 3, 2)))
MAP(m_tile, f[0] = o[1], f[1] = o[2] % 5, f[2] = o[3] % 6)
CALL(c_repeat, tc_repeat_interleave(x, 3, 1))
MAP(m_repeat, SAME, f[1] = o[1] / 3)
CALL(c_contiguous, tc_contiguous(tc_transpose(x, 1, 2)))
MAP(m_swap, f[0] = o[0], f[1] = o[2], f[2] = o[1])
CALL(c_clone, tc_clone(x))
CALL(c_tril, tc_tril(x, 1))
MAP(m_tril, SAME; if (o[2] > o[1] + 1) return 0)
CALL(c_triu, tc_triu(x, -1))
MAP(m_triu, SAME; if (o[2] < o[1] - 1) return 0)
// Chains, so that index maps compose.
CALL(c_chain1,
     tc_reshape(tc_permute(tc_slice(x, 1, 0, TC_END, 2), TC_DIMS(2, 1, 0)), TC_DIMS(9, 8)))
MAP(m_chain1, int64_t n = o[0] * 8 + o[1];
    f[0] = n % 4, f[1] = n / 4 % 3 * 2, f[2] = n / 12)
CALL(c_chain2,
     tc_flip(tc_roll(tc_pad(x, TC_DIMS(0, 0, 1), TC_DIMS(0, 0, 0), 1), 3, 2), TC_DIMS(2)))
MAP(m_chain2, SAME, f[2] = (6 - o[2] + 7 - 3) % 7 - 1; if (f[2] < 0) return 0)
CALL(c_chain3, tc_unfold(tc_flatten(tc_flip(x, TC_DIMS(1)), 0, 1), 0, 4, 5))
MAP(m_chain3, int64_t n = 5 * o[0] + o[2]; f[0] = n / 5, f[1] = 4 - n % 5, f[2] = o[1])
CALL(c_chain4,
     tc_cast(tc_clone(tc_expand(tc_unsqueeze(x, 1), TC_DIMS(4, 2, 5, 6))), tc_dtype_of(x)))
MAP(m_chain4, f[0] = o[0], f[1] = o[2], f[2] = o[3])

static int move_count;
static move moves[48];

static void add_move(const char *name, case_fn call, move_map map, tc_dims out) {
    move m;
    m.name = name, m.call = call, m.map = map, m.out = out;
    moves[move_count++] = m;
}

static void list_moves(void) {
    move_count = 0;
    add_move("reshape", c_reshape, m_reshape, TC_DIMS(8, 15));
    add_move("flatten", c_flatten, m_flatten, TC_DIMS(4, 30));
    add_move("squeeze", c_squeeze, m_same, TC_DIMS(4, 5, 6));
    add_move("squeeze_all", c_squeeze_all, m_same, TC_DIMS(4, 5, 6));
    add_move("unsqueeze", c_unsqueeze, m_same, TC_DIMS(4, 5, 6, 1));
    add_move("permute", c_permute, m_permute, TC_DIMS(6, 4, 5));
    add_move("transpose", c_transpose, m_transpose, TC_DIMS(6, 5, 4));
    add_move("t", c_t, m_t, TC_DIMS(6, 5));
    add_move("movedim", c_movedim, m_movedim, TC_DIMS(5, 6, 4));
    add_move("expand", c_expand, m_expand, TC_DIMS(2, 4, 3, 6));
    add_move("broadcast_to", c_broadcast_to, m_broadcast_to, TC_DIMS(7, 5, 6));
    add_move("slice", c_slice, m_slice, TC_DIMS(4, 5, 3));
    add_move("slice, back", c_slice_back, m_slice_back, TC_DIMS(4, 2, 6));
    add_move("slice, none", c_slice_none, m_same, TC_DIMS(4, 0, 6));
    add_move("slice, clipped", c_slice_clipped, m_slice_clipped, TC_DIMS(2, 5, 6));
    add_move("select", c_select, m_select, TC_DIMS(4, 6));
    add_move("narrow", c_narrow, m_narrow, TC_DIMS(4, 5, 4));
    add_move("flip", c_flip, m_flip, TC_DIMS(4, 5, 6));
    add_move("roll", c_roll, m_roll, TC_DIMS(4, 5, 6));
    add_move("roll, back", c_roll_back, m_roll_back, TC_DIMS(4, 5, 6));
    add_move("pad", c_pad, m_pad, TC_DIMS(5, 7, 8));
    add_move("cat", c_cat, m_cat, TC_DIMS(4, 8, 6));
    add_move("cat, one empty", c_cat_empty, m_cat_empty, TC_DIMS(8, 5, 6));
    add_move("stack", c_stack, m_stack, TC_DIMS(4, 5, 3, 6));
    add_move("split", c_split, m_split, TC_DIMS(4, 1, 6));
    add_move("chunk", c_chunk, m_chunk, TC_DIMS(4, 5, 2));
    add_move("unfold", c_unfold, m_unfold, TC_DIMS(4, 5, 2, 3));
    add_move("tile", c_tile, m_tile, TC_DIMS(2, 4, 15, 12));
    add_move("repeat_interleave", c_repeat, m_repeat, TC_DIMS(4, 15, 6));
    add_move("contiguous", c_contiguous, m_swap, TC_DIMS(4, 6, 5));
    add_move("clone", c_clone, m_same, TC_DIMS(4, 5, 6));
    add_move("tril", c_tril, m_tril, TC_DIMS(4, 5, 6));
    add_move("triu", c_triu, m_triu, TC_DIMS(4, 5, 6));
    add_move("slice permute reshape", c_chain1, m_chain1, TC_DIMS(9, 8));
    add_move("pad roll flip", c_chain2, m_chain2, TC_DIMS(4, 5, 7));
    add_move("flip flatten unfold", c_chain3, m_chain3, TC_DIMS(4, 6, 4));
    add_move("unsqueeze expand clone cast", c_chain4, m_chain4, TC_DIMS(4, 2, 5, 6));
}

static void move_case(const move *m, int dtype, int layout, int fill_one) {
    op_case *c = add_case(m->call, "%s %s, layout %d", m->name,
                          tc_dtype_name((tc_dtype)dtype), layout);
    int64_t at[TC_MAX_RANK] = {0}, f[TC_MAX_RANK];
    c->n_in = 1, c->layout[0] = layout;
    c->in[0] = new_array(dtype, TC_DIMS(4, 5, 6));
    for (int i = 0; i < 120; i++) {
        if (i % 11)
            c->in[0].at[i] = random_val(dtype, -8, 8);
        else
            c->in[0].at[i] =
                is_float(dtype) ? special_float(dtype, i) : special_int(dtype, i);
    }
    if (layout == EXPANDED) same_rows(&c->in[0]);
    c->expected = new_array(dtype, m->out);
    for (int64_t i = 0; i < c->expected.n; i++) {
        val fill = {0, 0};
        if (fill_one) fill.f = is_float(dtype), fill.i = !is_float(dtype);
        int inside = m->map(c, at, f);
        c->expected.at[i] = inside ? c->in[0].at[f[0] * 30 + f[1] * 6 + f[2]] : fill;
        for (int k = m->out.rank - 1; k >= 0 && ++at[k] == m->out.size[k]; k--) at[k] = 0;
    }
}

TEST(movement) {
    list_moves();
    for (int dtype = 0; dtype <= TC_F64; dtype++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (!way_is_tried(dtype, layout)) continue;
            compile_half(dtype, layout + dtype);
            for (int i = 0; i < move_count; i++) {
                int tri = !strncmp(moves[i].name, "tri", 3);
                move_case(&moves[i], dtype, layout, !tri);
            }
            flush();
        }
    compiled_each = 1;
    finish();
}

// ---- reductions over [a, b, c] ----
typedef tc_tensor (*reduce_fn)(tc_tensor, tc_dims, int, const char *, int);
typedef val (*reduce_ref)(const val *x, int64_t n, int t, ld *scale);
typedef struct reduction {
    const char *name;
    reduce_fn fn;
    reduce_ref ref;
    int result; // -1: same; -2: integers become i64; -3: integers become f32; else the dtype
    int no_bool, no_empty;
    double ulp;
    double low, high;
} reduction;

static val r_sum(const val *x, int64_t n, int t, ld *scale) {
    val r = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        r.f += x[i].f, r.i = (int64_t)((uint64_t)r.i + (uint64_t)x[i].i);
        *scale += x[i].f < 0 ? -x[i].f : x[i].f;
    }
    (void)t;
    return r;
}
static val r_mean(const val *x, int64_t n, int t, ld *scale) {
    val r = r_sum(x, n, t, scale);
    r.f = (is_float(t) ? r.f : (ld)r.i) / (ld)n;
    *scale /= (ld)(n ? n : 1);
    return r;
}
static val r_prod(const val *x, int64_t n, int t, ld *scale) {
    val r = {1, 1};
    for (int64_t i = 0; i < n; i++)
        r.f *= x[i].f, r.i = (int64_t)((uint64_t)r.i * (uint64_t)x[i].i);
    *scale = r.f < 0 ? -r.f : r.f;
    (void)t;
    return r;
}
static int64_t extreme(const val *x, int64_t n, int t, int sign) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        if (is_float(t) && x[best].f != x[best].f) break;
        if (is_float(t)
                ? x[i].f != x[i].f || (ld)sign * (x[i].f - x[best].f) > 0 ||
                      (x[i].f > x[best].f && sign > 0) || (x[i].f < x[best].f && sign < 0)
            : sign > 0 ? x[i].i > x[best].i
                       : x[i].i < x[best].i)
            best = i;
    }
    return best;
}
#define EXTREME(name, sign, value)                                                         \
    static val name(const val *x, int64_t n, int t, ld *scale) {                           \
        val r = {0, 0};                                                                    \
        int64_t k = extreme(x, n, t, sign);                                                \
        (void)scale, (void)k, r = (value);                                                 \
        return r;                                                                          \
    }
static val index_val(int64_t k) {
    val r = {0, 0};
    r.i = k;
    return r;
}
EXTREME(r_amax, 1, x[k])
EXTREME(r_amin, -1, x[k])
EXTREME(r_argmax, 1, index_val(k))
EXTREME(r_argmin, -1, index_val(k))
static val r_any(const val *x, int64_t n, int t, ld *scale) {
    int64_t r = 0;
    for (int64_t i = 0; i < n; i++) r |= is_float(t) ? x[i].f != 0 : x[i].i != 0;
    (void)scale;
    return index_val(r);
}
static val r_all(const val *x, int64_t n, int t, ld *scale) {
    int64_t r = 1;
    for (int64_t i = 0; i < n; i++) r &= is_float(t) ? x[i].f != 0 : x[i].i != 0;
    (void)scale;
    return index_val(r);
}
static val r_logsumexp(const val *x, int64_t n, int t, ld *scale) {
    val r = {0, 0};
    ld m = -(ld)INFINITY, s = 0;
    for (int64_t i = 0; i < n; i++) {
        ld v = is_float(t) ? x[i].f : (ld)x[i].i;
        if (v > m || v != v) m = v;
    }
    for (int64_t i = 0; i < n; i++) s += m_exp((is_float(t) ? x[i].f : (ld)x[i].i) - m);
    r.f = m + m_log(s);
    *scale = (m < 0 ? -m : m) + 1;
    return r;
}

static const reduction reductions[] = {
    {"sum", tc_sum_dims_at, r_sum, -2, 0, 0, 4, -8, 8},
    {"prod", tc_prod_dims_at, r_prod, -2, 0, 0, 8, 0.5, 1.5},
    {"mean", tc_mean_dims_at, r_mean, -3, 0, 0, 4, -8, 8},
    {"amax", tc_amax_dims_at, r_amax, -1, 1, 1, 0, -8, 8},
    {"amin", tc_amin_dims_at, r_amin, -1, 1, 1, 0, -8, 8},
    {"any", tc_any_dims_at, r_any, TC_BOOL, 0, 0, 0, -8, 8},
    {"all", tc_all_dims_at, r_all, TC_BOOL, 0, 0, 0, -8, 8},
    {"argmax", tc_argmax_dims_at, r_argmax, TC_I64, 1, 1, 0, -8, 8},
    {"argmin", tc_argmin_dims_at, r_argmin, TC_I64, 1, 1, 0, -8, 8},
    {"logsumexp", tc_logsumexp_dims_at, r_logsumexp, -3, 0, 1, 8, -8, 8},
};
enum { REDUCTIONS = (int)(sizeof reductions / sizeof *reductions) };

static tc_tensor call_reduce(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return ((const reduction *)c->fn)->fn(in[0], c->d, (int)c->a[0], c->name, 1);
}

// Reduces the dimensions of the mask of x[d0, d1, d2].
static void reduce_case(const reduction *r, int dtype, tc_dims d, int mask, int keep,
                        int layout, int spice) {
    int result = r->result == -1   ? dtype
                 : r->result == -2 ? (is_float(dtype) ? dtype : TC_I64)
                 : r->result == -3 ? (is_float(dtype) ? dtype : TC_F32)
                                   : r->result;
    op_case *c =
        add_case(call_reduce, "%s %s [%d,%d,%d] dims %d%s, layout %d%s", r->name,
                 tc_dtype_name((tc_dtype)dtype), (int)d.size[0], (int)d.size[1],
                 (int)d.size[2], mask, keep ? " keep" : "", layout, spice ? " spiced" : "");
    tc_dims out = {0, {0}};
    int64_t n = 1;
    c->fn = r, c->n_in = 1, c->layout[0] = layout, c->a[0] = keep, c->ulp = r->ulp;
    c->d.rank = 0;
    for (int k = 0; k < 3; k++) {
        int gone = mask >> k & 1 || !mask; // none named = all
        if (mask >> k & 1) c->d.size[c->d.rank++] = k == 1 ? -2 : k;
        if (gone) n *= d.size[k];
        if (!gone || keep) out.size[out.rank++] = gone ? 1 : d.size[k];
    }
    c->in[0] = new_array(dtype, d);
    for (int64_t i = 0; i < c->in[0].n; i++) {
        c->in[0].at[i] = random_val(dtype, r->low, r->high);
        if (spice && random_bits() % 40 == 0 && is_float(dtype))
            c->in[0].at[i] = special_float(dtype, (int)(random_bits() % 9));
        if ((r->fn == tc_any_dims_at || r->fn == tc_all_dims_at) && random_bits() % 8) {
            int one = r->fn == tc_all_dims_at;
            c->in[0].at[i].f = is_float(dtype) ? one : 0,
            c->in[0].at[i].i = !is_float(dtype) && one;
        }
    }
    if (layout == EXPANDED) same_rows(&c->in[0]);
    c->expected = new_array(result, out);
    c->allow = (ld *)calloc((size_t)c->expected.n + 1, sizeof *c->allow);
    val *x = (val *)calloc((size_t)n + 1, sizeof *x);
    for (int64_t i = 0; i < c->expected.n; i++) {
        int64_t left = i, count = 0, fixed[3] = {0, 0, 0};
        for (int k = 2; k >= 0; k--)
            if (!(mask >> k & 1) && mask) fixed[k] = left % d.size[k], left /= d.size[k];
        for (int64_t e = 0; e < c->in[0].n; e++) {
            int64_t at[3] = {e / (d.size[1] * d.size[2]), e / d.size[2] % d.size[1],
                             e % d.size[2]};
            int in = 1;
            for (int k = 0; k < 3; k++) in &= (mask >> k & 1) || !mask || at[k] == fixed[k];
            if (in) x[count++] = c->in[0].at[e];
        }
        ld scale = 0;
        c->expected.at[i] = r->ref(x, count, dtype, &scale);
        // 32 lanes add n / 32 times (chunks of 8192), then a tree: that many roundings of partial
        // sums that |x| bounds. The error of a product is relative, one rounding per factor.
        ld steps = (ld)(count < 8192 ? count : 8192) / 32 + 16;
        if (r->ref == r_prod) steps = (ld)count + 4;
        c->allow[i] = steps * scale * ulp_at(is_half(result) ? TC_F32 : result, 1) / 2;
        // Halves are f32 until one rounding at the end, of what the reference rounds too.
        if (is_half(result)) c->allow[i] += ulp_at(result, c->expected.at[i].f) / 2;
    }
    if (is_half(result) && c->ulp > 0) c->ulp = 0;
    if (r->ulp == 0) free(c->allow), c->allow = NULL;
    if (result == TC_BOOL)
        for (int64_t i = 0; i < c->expected.n; i++) c->expected.at[i].f = 0;
    free(x);
}

static void all_reductions(int dtype) {
    static const int64_t shapes[][3] = {
        {4, 5, 33}, {3, 40, 1}, {1, 130, 7}, {2, 3, 70}, {40, 2, 5}};
    for (int s = 0; s < 5; s++) {
        tc_dims d = tc_dims_of(3, shapes[s]);
        for (int i = 0; i < REDUCTIONS; i++) {
            if (reductions[i].no_bool && dtype == TC_BOOL) continue;
            for (int mask = 0; mask < 8; mask++)
                if (s == 0 || mask == (i + s) % 7 + 1)
                    reduce_case(&reductions[i], dtype, d, mask, (mask + i) % 2,
                                (mask + i + s) % LAYOUTS, s == 3);
        }
        flush();
    }
    // Empty: the reduced dimension, and another one.
    for (int i = 0; i < REDUCTIONS; i++) {
        if (reductions[i].no_bool && dtype == TC_BOOL) continue;
        if (!reductions[i].no_empty)
            reduce_case(&reductions[i], dtype, TC_DIMS(3, 0, 4), 2, 0, PLAIN, 0);
        reduce_case(&reductions[i], dtype, TC_DIMS(0, 5, 4), 2, 1, PLAIN, 0);
    }
    finish();
}

TEST(reductions_bool) { all_reductions(TC_BOOL); }
TEST(reductions_u8) { all_reductions(TC_U8); }
TEST(reductions_i8) { all_reductions(TC_I8); }
TEST(reductions_i16) { all_reductions(TC_I16); }
TEST(reductions_f16) { all_reductions(TC_F16); }
TEST(reductions_bf16) { all_reductions(TC_BF16); }
TEST(reductions_i32) { all_reductions(TC_I32); }
TEST(reductions_i64) { all_reductions(TC_I64); }
TEST(reductions_f32) { all_reductions(TC_F32); }
TEST(reductions_f64) { all_reductions(TC_F64); }

// Beyond one chunk of 8192, in rows and in columns.
TEST(reductions_large) {
    static const int64_t shapes[][3] = {
        {2, 1, 20000}, {1, 9001, 3}, {1, 1, 70001}, {1, 8192, 2}, {3, 8193, 1}};
    for (int s = 0; s < 5; s++) {
        tc_dims d = tc_dims_of(3, shapes[s]);
        for (int i = 0; i < REDUCTIONS; i++) {
            if (reductions[i].ref == r_prod) continue;
            int mask = s == 0 || s == 2 ? 4 : 2;
            reduce_case(&reductions[i], TC_F32, d, mask, 0, s % 2 ? PLAIN : TRANSPOSED, 0);
            if (i % 3 == s % 3) reduce_case(&reductions[i], TC_F64, d, 7, 0, PLAIN, 0);
            if (i % 3 == s % 3) reduce_case(&reductions[i], TC_I32, d, 6, 0, PLAIN, 0);
        }
        flush();
    }
    finish();
}

// ---- forms over one dimension and over all; var, std, norm ----
static const val *line_of(const op_case *c, int64_t i, int dim, val *out, int64_t *n) {
    const array *x = &c->in[0];
    int64_t inner = 1;
    for (int k = dim + 1; k < x->d.rank; k++) inner *= x->d.size[k];
    *n = x->d.size[dim];
    for (int64_t k = 0; k < *n; k++)
        out[k] = x->at[(i / inner * *n + k) * inner + i % inner];
    return out;
}
static ld m_abs(ld x) { return x < 0 ? -x : x; }
static ld line_var(const val *x, int64_t n, ld correction) {
    ld mean = 0, s = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i].f / (ld)n;
    for (int64_t i = 0; i < n; i++) s += (x[i].f - mean) * (x[i].f - mean);
    ld left = (ld)n - correction;
    return s / (left > 0 ? left : 0);
}
static ld line_norm(const val *x, int64_t n, ld p) {
    ld s = 0;
    if (p - p != 0) {
        for (int64_t i = 0; i < n; i++)
            if (!i || (p > 0 ? m_abs(x[i].f) > s : m_abs(x[i].f) < s)) s = m_abs(x[i].f);
        return s;
    }
    for (int64_t i = 0; i < n; i++) s += p == 0 ? x[i].f != 0 : m_pow(m_abs(x[i].f), p);
    return p == 0 ? s : m_pow(s, 1 / p);
}

// A composite over lines along `dim` of x: gives element k of line x.
typedef ld (*line_ref)(const op_case *c, const val *x, int64_t n, int64_t k);
typedef struct line_op {
    const char *name;
    case_fn call;
    line_ref ref;
    int reduces;  // the dimension goes
    double ulp;   // of the largest intermediate, which `scale` gives for lines of +-4
    double scale; // 0: of the result
} line_op;
#define LINE(name, expr)                                                                   \
    static ld name(const op_case *c, const val *x, int64_t n, int64_t k) {                 \
        (void)c, (void)k, (void)n;                                                         \
        return (expr);                                                                     \
    }
static ld line_max(const val *x, int64_t n) {
    ld m = x[0].f;
    for (int64_t i = 1; i < n; i++)
        if (x[i].f > m) m = x[i].f;
    return m;
}
static ld line_sumexp(const val *x, int64_t n) {
    ld s = 0, m = line_max(x, n);
    for (int64_t i = 0; i < n; i++) s += m_exp(x[i].f - m);
    return s;
}
static ld line_mean(const val *x, int64_t n) {
    ld s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i].f;
    return s / (ld)n;
}
static ld line_square(const val *x, int64_t n) {
    ld s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i].f * x[i].f;
    return s / (ld)n;
}
#define DIM ((int)c->a[0])
CALL(c_var, tc_var(x, DIM, c->s))
LINE(l_var, line_var(x, n, (ld)c->s))
CALL(c_std, tc_std(x, DIM, c->s))
LINE(l_std, m_sqrt(line_var(x, n, (ld)c->s)))
CALL(c_norm1, tc_norm(x, DIM, 1))
LINE(l_norm1, line_norm(x, n, 1))
CALL(c_norm2, tc_norm(x, DIM, 2))
LINE(l_norm2, line_norm(x, n, 2))
CALL(c_norm3, tc_norm(x, DIM, 3))
LINE(l_norm3, line_norm(x, n, 3))
CALL(c_norm0, tc_norm(x, DIM, 0))
LINE(l_norm0, line_norm(x, n, 0))
CALL(c_normi, tc_norm(x, DIM, INFINITY))
LINE(l_normi, line_norm(x, n, (ld)INFINITY))
CALL(c_normj, tc_norm(x, DIM, -INFINITY))
LINE(l_normj, line_norm(x, n, -(ld)INFINITY))
CALL(c_softmax, tc_softmax(x, DIM))
LINE(l_softmax, m_exp(x[k].f - line_max(x, n)) / line_sumexp(x, n))
CALL(c_log_softmax, tc_log_softmax(x, DIM))
LINE(l_log_softmax, x[k].f - line_max(x, n) - m_log(line_sumexp(x, n)))
CALL(c_lse, tc_logsumexp(x, DIM))
LINE(l_lse, line_max(x, n) + m_log(line_sumexp(x, n)))
CALL(c_sum, tc_sum(x, DIM))
LINE(l_sum, line_mean(x, n) * (ld)n)
CALL(c_mean, tc_mean(x, DIM))
LINE(l_mean, line_mean(x, n))
CALL(c_amax, tc_amax(x, DIM))
LINE(l_amax, line_max(x, n))
CALL(c_normalize, tc_normalize(x, 2, DIM, 1e-12))
LINE(l_normalize, x[k].f / line_norm(x, n, 2))
CALL(c_layer_norm,
     tc_movedim(tc_layer_norm(tc_movedim(x, DIM, -1), tc_null(), tc_null(), 1e-5), -1, DIM))
LINE(l_layer_norm, (x[k].f - line_mean(x, n)) / m_sqrt(line_var(x, n, 0) + 1e-5L))
CALL(c_rms_norm, tc_movedim(tc_rms_norm(tc_movedim(x, DIM, -1), tc_null(), 1e-5), -1, DIM))
LINE(l_rms_norm, x[k].f / m_sqrt(line_square(x, n) + 1e-5L))

static const line_op line_ops[] = {
    {"var", c_var, l_var, 1, 16, 0},
    {"std", c_std, l_std, 1, 16, 0},
    {"norm 1", c_norm1, l_norm1, 1, 8, 0},
    {"norm 2", c_norm2, l_norm2, 1, 8, 0},
    {"norm 3", c_norm3, l_norm3, 1, 16, 0},
    {"norm 0", c_norm0, l_norm0, 1, 0, 0},
    {"norm inf", c_normi, l_normi, 1, 0, 0},
    {"norm -inf", c_normj, l_normj, 1, 0, 0},
    {"softmax", c_softmax, l_softmax, 0, 16, 0},
    {"log_softmax", c_log_softmax, l_log_softmax, 0, 8, 8},
    {"logsumexp", c_lse, l_lse, 1, 8, 8},
    {"sum", c_sum, l_sum, 1, 8, 64},
    {"mean", c_mean, l_mean, 1, 8, 4},
    {"amax", c_amax, l_amax, 1, 0, 0},
    {"normalize", c_normalize, l_normalize, 0, 16, 0},
    {"layer_norm", c_layer_norm, l_layer_norm, 0, 16, 2},
    {"rms_norm", c_rms_norm, l_rms_norm, 0, 16, 0},
};

static void line_case(const line_op *o, int dtype, tc_dims d, int dim, int layout,
                      double s) {
    op_case *c = add_case(o->call, "%s %s along %d, layout %d, %g", o->name,
                          tc_dtype_name((tc_dtype)dtype), dim, layout, s);
    tc_dims out = d;
    c->n_in = 1, c->layout[0] = layout, c->a[0] = dim, c->s = s, c->ulp = o->ulp;
    c->in[0] = new_array(dtype, d);
    for (int64_t i = 0; i < c->in[0].n; i++) c->in[0].at[i] = random_val(dtype, -4, 4);
    if (layout == EXPANDED) same_rows(&c->in[0]);
    if (o->reduces) {
        for (int k = dim; k < d.rank - 1; k++) out.size[k] = d.size[k + 1];
        out.rank--;
    }
    c->expected = new_array(dtype, out);
    c->allow = (ld *)calloc((size_t)c->expected.n + 1, sizeof *c->allow);
    int64_t inner = 1, n;
    for (int k = dim + 1; k < d.rank; k++) inner *= d.size[k];
    val x[512];
    for (int64_t i = 0; i < c->in[0].n / d.size[dim]; i++) {
        line_of(c, i, dim, x, &n);
        for (int64_t k = 0; k < (o->reduces ? 1 : n); k++) {
            int64_t at = o->reduces ? i : (i / inner * n + k) * inner + i % inner;
            c->expected.at[at].f = o->ref(c, x, n, k);
            c->allow[at] =
                (ld)(o->ulp * o->scale) * ulp_at(is_half(dtype) ? TC_F32 : dtype, 1);
            if (is_half(dtype)) c->allow[at] += ulp_at(dtype, c->expected.at[at].f) / 2;
        }
    }
}

TEST(lines) {
    for (int dtype = TC_F16; dtype <= TC_F64; dtype++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (!way_is_tried(dtype, layout)) continue;
            compile_half(dtype, layout + dtype);
            for (size_t i = 0; i < sizeof line_ops / sizeof *line_ops; i++) {
                line_case(&line_ops[i], dtype, TC_DIMS(7, 70), 1, layout, (double)(i % 2));
                line_case(&line_ops[i], dtype, TC_DIMS(3, 34, 5), 1, layout,
                          (double)(layout % 2));
            }
            flush();
        }
    compiled_each = 1;
    finish();
}

// ---- products ----
typedef struct product {
    const char *name;
    tc_dims a, b, out;
} product;

static tc_tensor call_matmul(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_matmul(in[0], in[1]);
}
static tc_tensor call_bmm(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_bmm(in[0], in[1]);
}
static tc_tensor call_dot(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_dot(in[0], in[1]);
}
static tc_tensor call_outer(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_outer(in[0], in[1]);
}
static tc_tensor call_linear(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_linear(in[0], in[1], in[2]);
}
static tc_tensor call_addmm(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_addmm(in[2], in[0], in[1], 0.5, 2);
}

// out = a x b in matrices: batch of the result, rows, inner, columns; bias over columns.
static void product_case(case_fn call, const char *name, int dtype, tc_dims a, tc_dims b,
                         tc_dims out, int layout, int bias) {
    op_case *c =
        add_case(call, "%s %s [%d..%d] layout %d", name, tc_dtype_name((tc_dtype)dtype),
                 (int)a.size[0], (int)out.size[0], layout);
    int linear = call == call_linear;
    int ra = a.rank, rb = b.rank, vector_a = ra == 1, vector_b = rb == 1;
    int64_t k_size = a.size[ra - 1];
    int64_t rows = vector_a ? 1 : a.size[ra - 2], columns = vector_b ? 1 : b.size[rb - 1];
    if (linear) columns = b.size[0];
    c->n_in = 2 + bias;
    c->in[0] = new_array(dtype, a), c->in[1] = new_array(dtype, b);
    c->layout[0] = layout, c->layout[1] = (layout + 1) % LAYOUTS;
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < c->in[k].n; i++) c->in[k].at[i] = random_val(dtype, -2, 2);
        if (c->layout[k] == EXPANDED) same_rows(&c->in[k]);
    }
    c->expected = new_array(call == call_dot && !is_float(dtype) ? TC_I64 : dtype, out);
    if (bias) {
        c->in[2] = new_array(dtype, TC_DIMS(columns));
        for (int64_t i = 0; i < columns; i++) c->in[2].at[i] = random_val(dtype, -2, 2);
    }
    c->allow = (ld *)calloc((size_t)c->expected.n + 1, sizeof *c->allow);
    int64_t na = ra > 2 && !linear ? a.size[0] : 1, nb = rb > 2 ? b.size[0] : 1;
    if (linear) rows = c->in[0].n / (k_size ? k_size : 1);
    for (int64_t i = 0; i < c->expected.n; i++) {
        int64_t n = i / (rows * columns), m = i / columns % rows, j = i % columns;
        const val *x = c->in[0].at + (na > 1 ? n : 0) * rows * k_size + m * k_size;
        const val *y = c->in[1].at + (nb > 1 ? n : 0) * k_size * columns;
        ld s = 0, scale = 0;
        uint64_t u = 0;
        for (int64_t k = 0; k < k_size; k++) {
            const val *w = linear ? &y[j * k_size + k] : &y[k * columns + j];
            s += x[k].f * w->f, scale += m_abs(x[k].f * w->f);
            uint64_t p = (uint64_t)x[k].i * (uint64_t)w->i;
            u += call == call_dot ? (uint64_t)wrap_to(dtype, p) : p; // dot is mul, then sum
        }
        if (call == call_addmm)
            s = 2 * s + 0.5L * (bias ? c->in[2].at[j].f : 0), scale *= 2;
        else if (bias)
            s += c->in[2].at[j].f, u += (uint64_t)c->in[2].at[j].i;
        c->expected.at[i].f = is_float(dtype) ? s : 0;
        c->expected.at[i].i = is_float(dtype) ? 0 : wrap_to(c->expected.dtype, u);
        // One rounding per step of partial sums that the sum of |a b| bounds, and of a half one more.
        if (is_float(dtype))
            c->allow[i] = (ld)(k_size + 3) * (scale + 1) *
                          ulp_at(is_half(dtype) ? TC_F32 : dtype, 1) / 2;
        if (is_half(dtype)) c->allow[i] += ulp_at(dtype, m_abs(s)) / 2;
    }
}

TEST(products) {
    static const int sizes[][3] = {{1, 1, 1},   {3, 4, 5},    {7, 16, 8},
                                   {17, 33, 9}, {64, 64, 64}, {2, 200, 3},
                                   {31, 5, 70}, {4, 0, 3},    {6, 8, 16}};
    for (int dtype = TC_U8; dtype <= TC_F64; dtype++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (!way_is_tried(dtype, layout) || is_byte_float(dtype)) continue;
            compile_half(dtype, layout + dtype);
            for (int s = 0; s < 9; s++) {
                int m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
                if (layout > 1 && (s + layout) % 3) continue;
                product_case(call_matmul, "matmul", dtype, TC_DIMS(m, k), TC_DIMS(k, n),
                             TC_DIMS(m, n), layout, 0);
                if (s % 3) continue;
                product_case(call_matmul, "matmul batch", dtype, TC_DIMS(3, m, k),
                             TC_DIMS(3, k, n), TC_DIMS(3, m, n), layout, 0);
                product_case(call_matmul, "matmul shared", dtype, TC_DIMS(3, m, k),
                             TC_DIMS(k, n), TC_DIMS(3, m, n), layout, 0);
                product_case(call_bmm, "bmm", dtype, TC_DIMS(2, m, k), TC_DIMS(2, k, n),
                             TC_DIMS(2, m, n), layout, 0);
                product_case(call_matmul, "row", dtype, TC_DIMS(k), TC_DIMS(k, n),
                             TC_DIMS(n), PLAIN, 0);
                product_case(call_matmul, "column", dtype, TC_DIMS(m, k), TC_DIMS(k),
                             TC_DIMS(m), layout, 0);
                product_case(call_dot, "dot", dtype, TC_DIMS(k), TC_DIMS(k), TC_SCALAR,
                             PLAIN, 0);
                product_case(call_outer, "outer", dtype, TC_DIMS(m, 1), TC_DIMS(1, n),
                             TC_DIMS(m, n), PLAIN, 0);
                current.at[current.n - 1].in[0].d = TC_DIMS(m),
                                       current.at[current.n - 1].in[1].d = TC_DIMS(n);
                if (!is_float(dtype)) continue;
                product_case(call_linear, "linear", dtype, TC_DIMS(2, m, k), TC_DIMS(n, k),
                             TC_DIMS(2, m, n), layout, 1);
                product_case(call_addmm, "addmm", dtype, TC_DIMS(m, k), TC_DIMS(k, n),
                             TC_DIMS(m, n), layout, 1);
            }
            flush();
        }
    compiled_each = 1;
    finish();
}

// ---- indexing ----
static tc_tensor call_take(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return tc_take(in[0], in[1], (int)c->a[0]);
}
static tc_tensor call_index_select(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return tc_index_select(in[0], (int)c->a[0], in[1]);
}
static tc_tensor call_embedding(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_embedding(in[0], in[1]);
}
static tc_tensor call_gather(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return tc_gather(in[0], (int)c->a[0], in[1]);
}
static tc_tensor call_one_hot(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc, (void)c;
    return tc_one_hot(in[1], 5);
}
static tc_tensor call_masked_fill(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return tc_masked_fill(in[0], in[1], c->s);
}

static op_case *index_case(case_fn call, const char *name, int dtype, int index, tc_dims d,
                           tc_dims e, int64_t limit, int layout) {
    op_case *c =
        add_case(call, "%s %s by %s, layout %d", name, tc_dtype_name((tc_dtype)dtype),
                 tc_dtype_name((tc_dtype)index), layout);
    c->n_in = 2, c->layout[0] = layout, c->layout[1] = (layout * 5 + 1) % LAYOUTS;
    c->in[0] = new_array(dtype, d), c->in[1] = new_array(index, e);
    for (int64_t i = 0; i < c->in[0].n; i++) c->in[0].at[i] = random_val(dtype, -8, 8);
    for (int64_t i = 0; i < c->in[1].n; i++)
        c->in[1].at[i].i = (int64_t)(random_bits() % (uint64_t)(2 * limit)) - limit;
    for (int k = 0; k < 2; k++)
        if (c->layout[k] == EXPANDED) same_rows(&c->in[k]);
    return c;
}

TEST(indexing) {
    for (int dtype = 0; dtype <= TC_F64; dtype++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (!way_is_tried(dtype, layout)) continue;
            int index = (dtype + layout) % 2 ? TC_I32 : TC_I64;
            // x[4, 5, 6] by [3, 2] along 1; embedding [9, 4] by [2, 3]; gather along 2.
            op_case *c = index_case(call_take, "take", dtype, index, TC_DIMS(4, 5, 6),
                                    TC_DIMS(3, 2), 5, layout);
            c->a[0] = 1, c->expected = new_array(dtype, TC_DIMS(4, 3, 2, 6));
            for (int64_t i = 0; i < 144; i++) {
                int64_t k = c->in[1].at[i / 6 % 6].i;
                c->expected.at[i] =
                    c->in[0].at[(i / 36 * 5 + (k < 0 ? k + 5 : k)) * 6 + i % 6];
            }
            c = index_case(call_index_select, "index_select", dtype, index, TC_DIMS(4, 6),
                           TC_DIMS(9), 4, layout);
            c->a[0] = 0, c->expected = new_array(dtype, TC_DIMS(9, 6));
            for (int64_t i = 0; i < 54; i++) {
                int64_t k = c->in[1].at[i / 6].i;
                c->expected.at[i] = c->in[0].at[(k < 0 ? k + 4 : k) * 6 + i % 6];
            }
            c = index_case(call_embedding, "embedding", dtype, index, TC_DIMS(9, 4),
                           TC_DIMS(2, 3), 9, layout);
            c->expected = new_array(dtype, TC_DIMS(2, 3, 4));
            for (int64_t i = 0; i < 24; i++) {
                int64_t k = c->in[1].at[i / 4].i;
                c->expected.at[i] = c->in[0].at[(k < 0 ? k + 9 : k) * 4 + i % 4];
            }
            c = index_case(call_gather, "gather", dtype, index, TC_DIMS(4, 5, 6),
                           TC_DIMS(4, 3, 8), 6, layout);
            c->a[0] = 2, c->expected = new_array(dtype, TC_DIMS(4, 3, 8));
            for (int64_t i = 0; i < 96; i++) {
                int64_t k = c->in[1].at[i].i;
                c->expected.at[i] =
                    c->in[0].at[(i / 24 * 5 + i / 8 % 3) * 6 + (k < 0 ? k + 6 : k)];
            }
            c = index_case(call_one_hot, "one_hot", dtype, index, TC_DIMS(2), TC_DIMS(4, 3),
                           5, layout);
            c->expected = new_array(TC_I64, TC_DIMS(4, 3, 5));
            for (int64_t i = 0; i < 60; i++)
                c->expected.at[i].i = (c->in[1].at[i / 5].i + 5) % 5 == i % 5;
            if (dtype == TC_BOOL) continue;
            c = index_case(call_masked_fill, "masked_fill", dtype, TC_BOOL, TC_DIMS(4, 6),
                           TC_DIMS(6), 1, layout);
            c->s = 3, c->layout[1] = PLAIN, c->expected = new_array(dtype, TC_DIMS(4, 6));
            for (int64_t i = 0; i < 6; i++) c->in[1].at[i].i = (int64_t)(random_bits() & 1);
            for (int64_t i = 0; i < 24; i++) {
                c->expected.at[i] = c->in[0].at[i];
                if (!c->in[1].at[i % 6].i) continue;
                c->expected.at[i].f = is_float(dtype) ? 3 : 0,
                c->expected.at[i].i = is_float(dtype) ? 0 : 3;
            }
        }
    finish();
}

// ---- sources ----
CALL(c_full, tc_full(tc, TC_DIMS(3, 7), c->s, (tc_dtype)c->a[0]))
CALL(c_arange, tc_arange(tc, (double)c->a[1], (double)c->a[2], c->s, (tc_dtype)c->a[0]))
CALL(c_eye, tc_eye(tc, 3, 5, (tc_dtype)c->a[0]))
CALL(c_ones_like, tc_ones_like(x))
CALL(c_full_like, tc_full_like(x, 3))
CALL(c_zeros_like, tc_zeros_like(x))

TEST(sources) {
    static const double arange[][3] = {
        {0, 10, 1}, {5, -5, -2}, {0, 1, 0.25}, {3, 3, 1}, {2, 100, 7}};
    for (int dtype = 0; dtype <= TC_F64; dtype++) {
        op_case *c = add_case(c_full, "full %d", dtype);
        val v = {2.75L, 0};
        c->a[0] = dtype, c->s = 2.75, c->expected = new_array(dtype, TC_DIMS(3, 7));
        for (int i = 0; i < 21; i++) c->expected.at[i] = convert(v, TC_F64, dtype);
        c = add_case(c_eye, "eye %d", dtype);
        c->a[0] = dtype, c->expected = new_array(dtype, TC_DIMS(3, 5));
        for (int i = 0; i < 15; i++) {
            val one = {i / 5 == i % 5, 0};
            c->expected.at[i] = convert(one, TC_F64, dtype);
        }
        for (int k = 0; k < 3; k++) {
            static const case_fn likes[3] = {c_zeros_like, c_ones_like, c_full_like};
            static const int values[3] = {0, 1, 3};
            c = add_case(likes[k], "like %d %d", k, dtype);
            c->n_in = 1, c->in[0] = new_array(dtype, TC_DIMS(4, 0 + 6));
            c->expected = new_array(dtype, TC_DIMS(4, 6));
            for (int i = 0; i < 24; i++) {
                val w = {values[k], 0};
                c->expected.at[i] = convert(w, TC_F64, dtype);
            }
        }
        for (int k = 0; k < 5 && dtype != TC_BOOL; k++) {
            int64_t n = 0;
            if (dtype == TC_U8 && arange[k][2] < 0) continue;
            while ((arange[k][0] + (double)n * arange[k][2] < arange[k][1]) ==
                       (arange[k][2] > 0) &&
                   arange[k][0] + (double)n * arange[k][2] != arange[k][1])
                n++;
            c = add_case(c_arange, "arange %d %d", k, dtype);
            c->a[0] = dtype, c->a[1] = (int64_t)arange[k][0],
            c->a[2] = (int64_t)arange[k][1];
            c->s = arange[k][2], c->expected = new_array(dtype, TC_DIMS(n));
            for (int64_t i = 0; i < n; i++) {
                val w = {(ld)(arange[k][0] + (double)i * arange[k][2]), 0};
                c->expected.at[i] = convert(w, TC_F64, dtype);
            }
        }
    }
    finish();
}

#ifndef OPS_DEVICE
// Moments and range; the same numbers in a region.
TEST(random_numbers) {
    enum { COUNT = 40000 };
    static float x[COUNT];
    static double y[COUNT];
    static int32_t k[COUNT];
    for (int run = 0; run < RUNS; run++) {
        tc_ctx *tc = context_of(run);
        static float first[COUNT];
        double mean = 0, square = 0, normal_mean = 0, normal_square = 0;
        int counts[7] = {0, 0, 0, 0, 0, 0, 0};
        tc_manual_seed(tc, 3);
        if (run) tc_trace_begin_at(tc, "random", NULL, "ops.c", 2);
        tc_tensor a = tc_rand(tc, TC_DIMS(COUNT), TC_F32),
                  b = tc_randn(tc, TC_DIMS(COUNT), TC_F64);
        tc_tensor c = tc_randint(tc, -3, 4, TC_DIMS(COUNT), TC_I32);
        tc_tensor d = tc_dropout(tc_ones(tc, TC_DIMS(COUNT), TC_F32), 0.25);
        if (run) CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(a, x, sizeof x), TC_OK);
        CHECK_EQ(tc_read(b, y, sizeof y), TC_OK);
        CHECK_EQ(tc_read(c, k, sizeof k), TC_OK);
        for (int i = 0; i < COUNT; i++) {
            if (x[i] < 0 || x[i] >= 1) FAIL("rand[%d] is %g", i, (double)x[i]);
            if (k[i] < -3 || k[i] > 3)
                FAIL("randint[%d] is %d", i, k[i]);
            else
                counts[k[i] + 3]++;
            mean += (double)x[i], square += (double)x[i] * (double)x[i];
            normal_mean += y[i], normal_square += y[i] * y[i];
        }
        CHECK_NEAR(mean / COUNT, 0.5, 0.01);
        CHECK_NEAR(square / COUNT, 1.0 / 3, 0.01);
        CHECK_NEAR(normal_mean / COUNT, 0, 0.03);
        CHECK_NEAR(normal_square / COUNT, 1, 0.04);
        for (int i = 0; i < 7; i++) CHECK_NEAR(counts[i] / (double)COUNT, 1.0 / 7, 0.01);
        if (!run)
            memcpy(first, x, sizeof x);
        else
            CHECK_BYTES(x, first, sizeof x);
        CHECK_EQ(tc_read(d, x, sizeof x), TC_OK);
        int kept = 0;
        for (int i = 0; i < COUNT; i++) {
            kept += x[i] != 0;
            if (x[i] != 0 && x[i] != 1 / 0.75f) FAIL("dropout[%d] is %g", i, (double)x[i]);
        }
        CHECK_NEAR(kept / (double)COUNT, 0.75, 0.01);
    }
    finish();
}

#endif

// ---- composites with weights: small, against loops ----
CALL(c_weighted, tc_layer_norm(x, in[1], in[2], 1e-5))
CALL(c_rms_weighted, tc_rms_norm(x, in[1], 1e-6))
CALL(c_group_norm, tc_group_norm(x, 2, in[1], in[2], 1e-5))
CALL(c_batch_norm, tc_batch_norm(x, in[1], in[2], in[3], tc_null(), 1e-5))
CALL(c_cosine, tc_cosine_similarity(x, in[1], -1, 1e-8))
CALL(c_mse, tc_mse_loss(x, in[1]))
CALL(c_l1, tc_l1_loss(x, in[1]))
CALL(c_bce, tc_bce_with_logits(x, in[1]))
CALL(c_entropy, tc_cross_entropy(x, in[1]))
CALL(c_entropy_ignore, tc_cross_entropy_ignore(x, in[1], 2))
CALL(c_clamp, tc_clamp(x, -1.5, 2))
CALL(c_attention,
     tc_scaled_dot_product_attention(x, in[1], in[2], tc_null(), (int)c->a[0], 0))

// Inputs of the given sizes with values in [-2, 2].
static op_case *small_case(case_fn call, const char *name, int dtype, int n,
                           const tc_dims *d, tc_dims out, double ulp, double scale) {
    op_case *c = add_case(call, "%s %s", name, tc_dtype_name((tc_dtype)dtype));
    c->n_in = n;
    for (int k = 0; k < n; k++) {
        c->in[k] = new_array(dtype, d[k]);
        for (int64_t i = 0; i < c->in[k].n; i++) c->in[k].at[i] = random_val(dtype, -2, 2);
    }
    c->expected = new_array(dtype, out), c->ulp = ulp;
    c->allow = (ld *)calloc((size_t)c->expected.n + 1, sizeof *c->allow);
    for (int64_t i = 0; i < c->expected.n; i++)
        c->allow[i] = (ld)(ulp * scale) * ulp_at(dtype, 1);
    if (is_half(dtype)) c->once = (ld)(ulp * scale) * ulp_at(TC_F32, 1);
    return c;
}

static void norms(int dtype) {
    tc_dims d[4] = {TC_DIMS(6, 40), TC_DIMS(40), TC_DIMS(40), TC_DIMS(40)};
    op_case *c = small_case(c_weighted, "layer_norm, weighted", dtype, 3, d, d[0], 16, 4);
    for (int64_t i = 0; i < 240; i++) {
        const val *x = c->in[0].at + i / 40 * 40;
        c->expected.at[i].f =
            l_layer_norm(c, x, 40, i % 40) * c->in[1].at[i % 40].f + c->in[2].at[i % 40].f;
    }
    c = small_case(c_rms_weighted, "rms_norm, weighted", dtype, 2, d, d[0], 16, 4);
    for (int64_t i = 0; i < 240; i++) {
        const val *x = c->in[0].at + i / 40 * 40;
        c->expected.at[i].f =
            x[i % 40].f / m_sqrt(line_square(x, 40) + 1e-6L) * c->in[1].at[i % 40].f;
    }
    tc_dims g[3] = {TC_DIMS(3, 4, 5, 2), TC_DIMS(4), TC_DIMS(4)};
    c = small_case(c_group_norm, "group_norm", dtype, 3, g, g[0], 16, 4);
    for (int64_t i = 0; i < 120; i++) {
        const val *x = c->in[0].at + i / 20 * 20; // 2 channels of 10
        int64_t channel = i / 10 % 4;
        c->expected.at[i].f = l_layer_norm(c, x, 20, i % 20) * c->in[1].at[channel].f +
                              c->in[2].at[channel].f;
    }
    tc_dims b[4] = {TC_DIMS(3, 4, 5), TC_DIMS(4), TC_DIMS(4), TC_DIMS(4)};
    c = small_case(c_batch_norm, "batch_norm", dtype, 4, b, b[0], 16, 8);
    for (int k = 0; k < 4; k++) c->in[2].at[k].f = round_to(dtype, 0.5L + (ld)k);
    for (int64_t i = 0; i < 60; i++) {
        int64_t k = i / 5 % 4;
        c->expected.at[i].f = (c->in[0].at[i].f - c->in[1].at[k].f) /
                              m_sqrt(c->in[2].at[k].f + 1e-5L) * c->in[3].at[k].f;
    }
    c = small_case(c_clamp, "clamp", dtype, 1, d, d[0], 0, 0);
    for (int64_t i = 0; i < 240; i++) {
        if (i < 16) c->in[0].at[i] = special_float(dtype, (int)i);
        ld x = c->in[0].at[i].f;
        c->expected.at[i].f = x != x ? x : x < -1.5L ? -1.5L : x > 2 ? 2 : x;
    }
}

static void losses(int dtype) {
    tc_dims d[2] = {TC_DIMS(6, 9), TC_DIMS(6, 9)};
    op_case *m = small_case(c_mse, "mse_loss", dtype, 2, d, TC_SCALAR, 8, 2);
    op_case *l = small_case(c_l1, "l1_loss", dtype, 2, d, TC_SCALAR, 8, 2);
    op_case *b = small_case(c_bce, "bce_with_logits", dtype, 2, d, TC_SCALAR, 8, 2);
    op_case *s = small_case(c_cosine, "cosine_similarity", dtype, 2, d, TC_DIMS(6), 16, 1);
    for (int i = 0; i < 54; i++) {
        ld x = m->in[0].at[i].f, y = m->in[1].at[i].f;
        m->expected.at[0].f += (x - y) * (x - y) / 54;
        x = l->in[0].at[i].f, y = l->in[1].at[i].f;
        l->expected.at[0].f += m_abs(x - y) / 54;
        x = b->in[0].at[i].f, y = b->in[1].at[i].f;
        b->expected.at[0].f += ((x > 0 ? x : 0) - x * y + m_log1p(m_exp(-m_abs(x)))) / 54;
    }
    for (int i = 0; i < 6; i++) {
        ld xy = 0, xx = 0, yy = 0;
        for (int k = 0; k < 9; k++) {
            ld x = s->in[0].at[9 * i + k].f, y = s->in[1].at[9 * i + k].f;
            xy += x * y, xx += x * x, yy += y * y;
        }
        s->expected.at[i].f = xy / (m_sqrt(xx) * m_sqrt(yy));
    }
    for (int ignore = 0; ignore < 2; ignore++) {
        tc_dims e[2] = {TC_DIMS(7, 5), TC_DIMS(7)};
        op_case *c = small_case(ignore ? c_entropy_ignore : c_entropy, "cross_entropy",
                                dtype, 2, e, TC_SCALAR, 8, 4);
        int used = 0;
        c->in[1].dtype = TC_I64;
        for (int i = 0; i < 7; i++) {
            val *t = &c->in[1].at[i];
            t->f = 0, t->i = (i * 3) % 5;
            if (ignore && t->i == 2) continue;
            used++;
            c->expected.at[0].f +=
                l_lse(c, c->in[0].at + 5 * i, 5, 0) - c->in[0].at[5 * i + t->i].f;
        }
        c->expected.at[0].f /= used;
    }
}

static void attention(int dtype, int causal) {
    tc_dims d[3] = {TC_DIMS(2, 6, 8), TC_DIMS(2, 6, 8), TC_DIMS(2, 6, 5)};
    op_case *c = small_case(c_attention, causal ? "causal attention" : "attention", dtype,
                            3, d, TC_DIMS(2, 6, 5), 64, 2);
    c->a[0] = causal;
    // The shares, which sum to 1, are rounded too; |v| is at most 2.
    if (is_half(dtype)) c->once += ulp_at(dtype, 1);
    for (int64_t i = 0; i < 60; i++) {
        int64_t n = i / 30, q = i / 5 % 6, f = i % 5;
        ld w[6], m = -(ld)INFINITY, s = 0, r = 0;
        for (int64_t k = 0; k < 6; k++) {
            w[k] = 0;
            for (int64_t e = 0; e < 8; e++)
                w[k] +=
                    c->in[0].at[(n * 6 + q) * 8 + e].f * c->in[1].at[(n * 6 + k) * 8 + e].f;
            w[k] = causal && k > q ? -(ld)INFINITY : w[k] / m_sqrt(8);
            if (w[k] > m) m = w[k];
        }
        for (int64_t k = 0; k < 6; k++) s += w[k] = m_exp(w[k] - m);
        for (int64_t k = 0; k < 6; k++) r += w[k] / s * c->in[2].at[(n * 6 + k) * 5 + f].f;
        c->expected.at[i].f = r;
    }
}

TEST(composites) {
    for (int dtype = TC_F16; dtype <= TC_F64; dtype++) {
        norms(dtype);
        losses(dtype);
        attention(dtype, 0), attention(dtype, 1);
        flush();
    }
    finish();
}

// ---- convolution and pooling ----
// stride, padding, dilation, groups in a[0..3]
static tc_tensor call_conv2d(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    tc_conv_options o;
    (void)tc;
    if (c->s == 0)
        return tc_conv2d(in[0], in[1], in[2], (int)c->a[0], (int)c->a[1], (int)c->a[2],
                         (int)c->a[3]);
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 2; i++)
        o.stride[i] = (int)c->a[0], o.padding[i] = (int)c->a[1],
        o.dilation[i] = (int)c->a[2];
    o.groups = (int)c->a[3];
    return tc_conv2d_with(in[0], in[1], in[2], &o);
}
static tc_tensor call_conv1d(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    (void)tc;
    return tc_conv1d(in[0], in[1], in[2], (int)c->a[0], (int)c->a[1], (int)c->a[2],
                     (int)c->a[3]);
}
static tc_tensor call_pool(const op_case *c, tc_ctx *tc, const tc_tensor *in) {
    int k = (int)c->a[0], stride = (int)c->a[1], padding = (int)c->a[2];
    (void)tc;
    return c->a[3] ? tc_max_pool2d(in[0], k, stride, padding)
                   : tc_avg_pool2d(in[0], k, stride, padding);
}

static void conv_case(int dtype, int groups, int k, int stride, int padding, int dilation,
                      int one_d) {
    enum { B = 2, C = 4, W = 9 };
    const int O = groups == C ? C : 6; // depthwise: each channel by itself
    int h = one_d ? 1 : 7, kh = one_d ? 1 : k, ph = one_d ? 0 : padding;
    int oh = one_d ? 1 : (h + 2 * padding - dilation * (k - 1) - 1) / stride + 1;
    int ow = (W + 2 * padding - dilation * (k - 1) - 1) / stride + 1, cg = C / groups;
    tc_dims d[3] = {TC_DIMS(B, C, h, W), TC_DIMS(O, cg, kh, k), TC_DIMS(O)};
    tc_dims out = TC_DIMS(B, O, oh, ow);
    if (one_d) d[0] = TC_DIMS(B, C, W), d[1] = TC_DIMS(O, cg, k), out = TC_DIMS(B, O, ow);
    op_case *c =
        small_case(one_d ? call_conv1d : call_conv2d, "conv", dtype, 3, d, out, 32, 4);
    snprintf(c->name, sizeof c->name,
             "conv%dd %s groups %d kernel %d stride %d padding %d dilation %d", 2 - one_d,
             tc_dtype_name((tc_dtype)dtype), groups, k, stride, padding, dilation);
    c->a[0] = stride, c->a[1] = padding, c->a[2] = dilation, c->a[3] = groups,
    c->s = k == 3;
    for (int64_t i = 0; i < c->expected.n; i++) {
        int x = (int)(i % ow), y = (int)(i / ow % oh), o = (int)(i / ow / oh % O),
            n = (int)(i / ow / oh / O);
        ld s = 0;
        for (int ci = 0; ci < cg; ci++)
            for (int u = 0; u < kh; u++)
                for (int v = 0; v < k; v++) {
                    int yy = y * (one_d ? 1 : stride) - ph + u * dilation;
                    int xx = x * stride - padding + v * dilation,
                        cc = o / (O / groups) * cg + ci;
                    if (yy < 0 || yy >= h || xx < 0 || xx >= W) continue;
                    s += c->in[0].at[((n * C + cc) * h + yy) * W + xx].f *
                         c->in[1].at[((o * cg + ci) * kh + u) * k + v].f;
                }
        c->expected.at[i].f = s + c->in[2].at[o].f;
    }
}

static void pool_case(int dtype, int k, int stride, int padding, int max) {
    int s = stride ? stride : k, oh = (7 + 2 * padding - k) / s + 1,
        ow = (9 + 2 * padding - k) / s + 1;
    tc_dims d = TC_DIMS(2, 3, 7, 9);
    op_case *c = small_case(call_pool, max ? "max_pool2d" : "avg_pool2d", dtype, 1, &d,
                            TC_DIMS(2, 3, oh, ow), max ? 0 : 8, 1);
    c->a[0] = k, c->a[1] = stride, c->a[2] = padding, c->a[3] = max;
    for (int64_t i = 0; i < c->expected.n; i++) {
        int x = (int)(i % ow), y = (int)(i / ow % oh), n = (int)(i / ow / oh);
        ld m = -(ld)INFINITY, sum = 0;
        for (int u = 0; u < k; u++)
            for (int v = 0; v < k; v++) {
                int yy = y * s - padding + u, xx = x * s - padding + v;
                if (yy < 0 || yy >= 7 || xx < 0 || xx >= 9) continue;
                ld e = c->in[0].at[(n * 7 + yy) * 9 + xx].f;
                sum += e;
                if (e > m) m = e;
            }
        c->expected.at[i].f = max ? m : sum / (k * k);
    }
}

TEST(convolutions) {
    for (int dtype = TC_F16; dtype <= TC_F64; dtype++) {
        for (int groups = 1; groups <= 4; groups *= 2)
            for (int k = 1; k <= 3; k++) {
                conv_case(dtype, groups, k, 1, k / 2, 1, 0);
                conv_case(dtype, groups, k, 2, 1, 1, 0);
                conv_case(dtype, groups, k, 1, 2, 2, 0);
                conv_case(dtype, groups, k, 2, 1, 2, 1);
            }
        for (int k = 2; k <= 3; k++)
            for (int max = 0; max < 2; max++) {
                pool_case(dtype, k, 0, 0, max);
                pool_case(dtype, k, 1, 1, max);
                pool_case(dtype, k, 2, k / 2, max);
            }
        flush();
    }
    finish();
}

// A tc_const filter: unrolled, zero taps left out.
CALL(c_conv_const, tc_conv2d(x, there(tc_const(tc, c->fn, TC_DIMS(3, 1, 3, 3), TC_F32)),
                             tc_null(), 1, 1, 1, 3))
TEST(constant_filters) {
    // A place where every channel has zero is left out.
    static const float taps[27] = {0, 1, 0, -1, 0.5f, 2, 0, 0, 3, 0,  1, 1, 1, 1,
                                   1, 1, 0, 1,  0,    0, 0, 0, 0, -2, 0, 0, 0};
    tc_dims d = TC_DIMS(2, 3, 7, 9);
    op_case *c = small_case(c_conv_const, "constant filter", TC_F32, 1, &d, d, 16, 4);
    c->fn = taps;
    c->in[0].at[20].f = (ld)INFINITY;
    for (int64_t i = 0; i < 378; i++) {
        int x = (int)(i % 9), y = (int)(i / 9 % 7), ch = (int)(i / 63 % 3),
            n = (int)(i / 189);
        ld s = 0;
        for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++) {
                int yy = y + u - 1, xx = x + v - 1;
                float tap = taps[ch * 9 + u * 3 + v];
                if ((u == 2 && v == 1) || (!u && !v) || yy < 0 || yy >= 7 || xx < 0 ||
                    xx >= 9)
                    continue;
                s += (ld)tap * c->in[0].at[((n * 3 + ch) * 7 + yy) * 9 + xx].f;
            }
        c->expected.at[i].f = s;
    }
    finish();
}

// ---- in-place forms equal the plain ones ----
TEST(in_place) {
    float x[12], want[12], got[12];
    tc_ctx *tc = context_of(FIRST_RUN);
    for (int i = 0; i < 12; i++) x[i] = 0.25f * (float)(i - 3);
    tc_tensor b = there(tc_full(tc, TC_DIMS(4), 1.5, TC_F32)), mask;
    tc_tensor p = there(tc_from_data(tc, x, TC_DIMS(3, 4), TC_F32));
    mask = tc_gt_s(p, 0.5);
#define IN_PLACE(plain, in_place)                                                          \
    for (int region = 0; region < 2; region++) {                                           \
        tc_tensor a = there(tc_from_data(tc, x, TC_DIMS(3, 4), TC_F32)), y = plain;        \
        tc_read(y, want, sizeof want);                                                     \
        if (region) tc_trace_begin_at(tc, #in_place, NULL, "ops.c", __LINE__);             \
        tc_tensor r = in_place;                                                            \
        if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);                                     \
        CHECK(r.id == a.id);                                                               \
        CHECK_EQ(tc_read(a, got, sizeof got), TC_OK);                                      \
        for (int i = 0; i < 12; i++)                                                       \
            if (memcmp(&got[i], &want[i], 4) && (got[i] == got[i] || want[i] == want[i]))  \
                FAIL("%s [%d]: %g, not %g", #in_place, i, (double)got[i],                  \
                     (double)want[i]);                                                     \
    }
    IN_PLACE(tc_expand(b, TC_DIMS(3, 4)), tc_copy_(a, b))
    IN_PLACE(tc_full_like(a, 2), tc_fill_(a, 2))
    IN_PLACE(tc_zeros_like(a), tc_zero_(a))
    IN_PLACE(tc_add(a, b), tc_add_(a, b))
    IN_PLACE(tc_sub(a, b), tc_sub_(a, b))
    IN_PLACE(tc_mul(a, b), tc_mul_(a, b))
    IN_PLACE(tc_div(a, b), tc_div_(a, b))
    IN_PLACE(tc_maximum(a, b), tc_maximum_(a, b))
    IN_PLACE(tc_minimum(a, b), tc_minimum_(a, b))
    IN_PLACE(tc_add_s(a, 3), tc_add_s_(a, 3))
    IN_PLACE(tc_sub_s(a, 3), tc_sub_s_(a, 3))
    IN_PLACE(tc_mul_s(a, 3), tc_mul_s_(a, 3))
    IN_PLACE(tc_div_s(a, 3), tc_div_s_(a, 3))
    IN_PLACE(tc_pow_s(a, 3), tc_pow_s_(a, 3))
    IN_PLACE(tc_clamp(a, -0.3, 1), tc_clamp_(a, -0.3, 1))
    IN_PLACE(tc_masked_fill(a, mask, 9), tc_masked_fill_(a, mask, 9))
    IN_PLACE(tc_neg(a), tc_neg_(a))
    IN_PLACE(tc_abs(a), tc_abs_(a))
    IN_PLACE(tc_square(a), tc_square_(a))
    IN_PLACE(tc_sqrt(a), tc_sqrt_(a))
    IN_PLACE(tc_rsqrt(a), tc_rsqrt_(a))
    IN_PLACE(tc_reciprocal(a), tc_reciprocal_(a))
    IN_PLACE(tc_exp(a), tc_exp_(a))
    IN_PLACE(tc_log(a), tc_log_(a))
    IN_PLACE(tc_tanh(a), tc_tanh_(a))
    IN_PLACE(tc_sigmoid(a), tc_sigmoid_(a))
    IN_PLACE(tc_relu(a), tc_relu_(a))
    IN_PLACE(tc_gelu(a), tc_gelu_(a))
    IN_PLACE(tc_silu(a), tc_silu_(a))
    tc_error_clear(tc);
    finish();
}

// The remaining forms: they are the ones above with fewer words.
TEST(forms) {
    float x[6] = {3, 1, 2, -4, 0, 5}, got[6];
    for (int run = FIRST_RUN; run < RUNS; run++) {
        tc_ctx *tc = context_of(run);
        tc_tensor t = there(tc_from_data(tc, x, TC_DIMS(2, 3), TC_F32));
        if (run) tc_trace_begin_at(tc, "forms", NULL, "ops.c", 3);
        tc_tensor all[12], lines[5];
        all[0] = tc_sum_all(t), all[1] = tc_prod_all(t), all[2] = tc_mean_all(t),
        all[3] = tc_amax_all(t);
        all[4] = tc_amin_all(t), all[5] = tc_argmax_all(t), all[6] = tc_argmin_all(t);
        all[7] = tc_any_all(t), all[8] = tc_all_all(t), all[9] = tc_var_all(t, 0);
        all[10] = tc_norm_all(t, 1), all[11] = tc_logsumexp_all(t);
        lines[0] = tc_prod(t, 1), lines[1] = tc_amin(t, 1),
        lines[2] = tc_to_f32(tc_argmax(t, 1));
        lines[3] = tc_to_f32(tc_any(t, -1)),
        lines[4] = tc_to_f32(tc_add(tc_argmin(t, 1), tc_all(t, 1)));
        tc_tensor deviation = tc_std_all(t, 1),
                  whole = tc_std_dims(t, TC_DIMS(0, 1), 1, TC_KEEPDIM);
        tc_tensor variance = tc_var_dims(t, TC_DIMS(0, 1), 1, 0),
                  norm = tc_norm_dims(t, TC_DIMS(0, 1), 2, 0);
        tc_tensor casts =
            tc_add(tc_to_i64(tc_to_u8(t)), tc_add(tc_to_i32(t), tc_to_bool(t)));
        tc_tensor f64 = tc_to_f64(tc_zeros(tc, TC_DIMS(2), TC_F32)),
                  ones = tc_ones(tc, TC_DIMS(2), TC_F64);
        if (run) CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)));
        static const double want[11] = {7, 0, 7.0 / 6,           5, -4, 5, 3,
                                        1, 0, 7.805555555555556, 15};
        for (int i = 0; i < 11; i++) CHECK_NEAR(tc_item(all[i]), want[i], 1e-5);
        CHECK_NEAR(tc_item(all[11]), 5.1906, 1e-3);
        static const float rows_want[5][2] = {{6, 0}, {1, -4}, {0, 2}, {1, 1}, {2, 0}};
        for (int i = 0; i < 5; i++) {
            CHECK_EQ(tc_read(lines[i], got, 8), TC_OK);
            CHECK(got[0] == rows_want[i][0] && got[1] == rows_want[i][1]);
        }
        CHECK_NEAR(tc_item(deviation), 3.0605, 1e-3);
        CHECK_NEAR(tc_item(whole), 3.0605, 1e-3);
        CHECK_EQ(tc_rank(whole), 2);
        CHECK_NEAR(tc_item(variance), 9.36667, 1e-3);
        CHECK_NEAR(tc_item(norm), 7.4162, 1e-3);
        CHECK_EQ(tc_item_i64(tc_select(tc_flatten(casts, 0, 1), 0, 3)), -3);
        CHECK_EQ(tc_item(tc_sum_all(f64)) + tc_item(tc_sum_all(ones)), 2);
        if (tc_error(tc)) FAIL("%s", tc_error_text(tc));
    }
    finish();
}

#ifndef OPS_DEVICE
// ---- nothing is forgotten ----
// Rows that are no public elementwise op, and where they are tested.
static const char *const elsewhere[] = {
    "CAST", "INPUT", "CONST", "ARG", "IOTA", "RANDOM", "RESHAPE", "PERMUTE", "EXPAND",
    "SLICE", "PAD", "WINDOW", "CAT", "TAKE", "GATHER", "SUM", "PROD", "AMAX", "AMIN", "ANY",
    "ALL", "ARGMAX", "ARGMIN", "MATMUL", "LOAD", "STORE", "INDEX", "CHECK", "VALID", "ACC",
    "FOR", "END", "NEW", "COMBINE", "CONTRACT", "LEFT_SUM", "COPY_", "KEEP", "BREAK",
    "SHARE", "FINISH", "CUSTOM", "CALL", "LAUNCH", "AXIS", "IF", "ELSE", "BARRIER", "LEAVE",
    "COPY", "WAIT", "PUT", "GET", "LAST", "TEMPLATE", "HOLE", "BEGUN", "MEET", "FORGET",
    "TO",       // tests/cuda/across.c
    "LAID",     // tests/cuda/convolution.c
    "UNROLLED", // tests/region/winograd.c
    "CENTRED", "DETACH", "GRADIENT", "JVP", "NO_GRAD", "OWN_GRADIENT", "WRT", // tests/grad
    "AGAIN", "CHECKPOINT", // tests/grad/checkpoint.c
    "FORCE_EAGER",         // tests/function/stances.c
    "CARRY", "EACH", "NEXT", "CARRIED", "STACKED", "LOOP", "END_LOOP", // function/loops.c
    // rows.c
    "CUMSUM", "CUMPROD", "ARGSORT", "TOPK", "SCATTER", "SCATTER_ADD", "INDEX_ADD",
    "ROW_ADD"};

TEST(every_op_has_a_reference) {
    for (int i = 0; i < ROWS; i++) {
        int known = ref_of(rows[i].name) != NULL;
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
            known |= !strcmp(rows[i].id, elsewhere[k]);
        if (!known) FAIL("%s (%s) has no reference in ref.h", rows[i].id, rows[i].kind);
    }
    for (int i = 0; i < REFS; i++) {
        int known = 0;
        for (int k = 0; k < ROWS; k++) {
            double low, high, ulp;
            if (strcmp(rows[k].name, refs[i].name)) continue;
            known = 1;
            row_range(&rows[k], &low, &high, &ulp);
            if (ulp != refs[i].ulp)
                FAIL("%s: the table promises %g ulp, the reference asks %g", refs[i].name,
                     ulp, refs[i].ulp);
        }
        if (!known) FAIL("%s is in ref.h but not in ops.def", refs[i].name);
    }
}

static void count_way(const ref_op *o, int dtype, int way, int run, int n, int *least) {
    if (n < *least) *least = n;
    if (!n)
        FAIL("%s of %s in way %d, %s: never run", o->name, tc_dtype_name((tc_dtype)dtype),
             way, run_names[run]);
}

static int count_op(int op, const ref_op *o, int *least) {
    int total = 0;
    for (int dtype = 0; dtype < TC_DTYPE_COUNT; dtype++) {
        int d[3] = {o->rule == CHOICE ? TC_BOOL : dtype, dtype, dtype}, compiled = 0;
        if (compute_dtype(o, d) < 0) continue;
        for (int way = 0; way < WAYS; way++)
            for (int run = 0; run < RUNS && way_is_tried(dtype, way); run++) {
                int n = count_table[op][dtype][way][run];
                total += n;
                if (run != RUN_CPU)
                    count_way(o, dtype, way, run, n, least);
                else
                    compiled += n > 0;
            }
        if (compiles_all() && compiled < (is_narrow(dtype) ? 4 : WAYS / 2))
            FAIL("%s of %s: compiled in %d ways", o->name, tc_dtype_name((tc_dtype)dtype),
                 compiled);
    }
    return total;
}

// Op x dtype x way to lay out (those tried) x interpreted, and op x dtype compiled, of the tests above.
TEST(every_op_ran_every_way) {
    int ops = 0, total = 0, least = 1 << 30;
    for (int i = 0; i < TC_DTYPE_COUNT; i++) {
        char test[40];
        snprintf(test, sizeof test, "elementwise_%s", tc_dtype_name((tc_dtype)i));
        if (!test_selected(test)) SKIP("only some of the elementwise tests ran");
    }
    for (int i = 0; i < ROWS; i++) {
        const ref_op *o = ref_of(rows[i].name);
        if (!o || (!rows[i].f1 && !rows[i].f2 && !rows[i].f3)) continue;
        int n = count_op(i, o, &least);
        if (test_option("--counts")) printf("%-20s %d\n", rows[i].name, n);
        ops++, total += n;
    }
    printf("%d elementwise ops ran %d times, each dtype, layout and executor at least %d\n",
           ops, total, least);
}

// A number as a 0-d tensor, in every dtype; tests/function/sizes.c has it in regions.
TEST(scalar) {
    static const double values[] = {0, 1, 7.9, -3, 200};
    tc_ctx *tc = tc_open(NULL);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double v = values[i];
        CHECK_EQ(tc_rank(tc_scalar(tc, v, TC_F32)), 0);
        CHECK_NEAR(tc_item(tc_scalar(tc, v, TC_F64)), v, 0);
        CHECK_NEAR(tc_item(tc_scalar(tc, v, TC_F32)), (float)v, 0);
        CHECK_EQ(tc_item_i64(tc_scalar(tc, v, TC_I64)), (int64_t)v);
        CHECK_EQ(tc_item_i64(tc_scalar(tc, v, TC_I32)), (int32_t)v);
        CHECK_EQ(tc_item_i64(tc_scalar(tc, v, TC_BOOL)), v != 0);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}
#endif
