// Every element-wise op has CUDA text for every dtype that it takes: a kernel of each, all compiled by
// NVRTC for every architecture, without a warning or a spill; so are products with their rows in the
// prologue, in all forms. Skipped where NVRTC is not installed.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"

#include "tcompile_cuda.in.h"

#include "harness.h"
#include "tools/cuda_custom.h"
#include "tools/nvrtc.h"

enum { MOST_GROUPS = 1200 };

typedef struct texts {
    tc_ctx *c;
    tc__ixpool ix;
    const tc__group *group[MOST_GROUPS]; // of the schedules
    int count;
    tc__graph *graph[MOST_GROUPS];
    tc__schedule *schedule[MOST_GROUPS];
    int graphs;
} texts;

static void close_texts(texts *t) {
    for (int i = 0; i < t->graphs; i++) {
        tc__schedule_close(t->schedule[i]), free(t->schedule[i]);
        tc__graph_close(t->graph[i]), free(t->graph[i]);
    }
    tc__ix_close(&t->ix);
    tc_close(t->c);
}

static int is_elementwise(int op) {
    int kind = tc__ops[op].kind;
    return kind == TC__KIND_UNARY || kind == TC__KIND_BINARY || kind == TC__KIND_TERNARY ||
           op == TC_OP_CAST;
}

// The kernels of a graph as a device has them, if its text is a graph that obeys the rules.
static int add_graph(texts *t, const char *text) {
    tc__graph from, *to = (tc__graph *)calloc(1, sizeof *to);
    tc__schedule *s = (tc__schedule *)calloc(1, sizeof *s);
    tc__ids outputs;
    memset(&outputs, 0, sizeof outputs);
    tc__graph_open(&from, t->c, &t->ix), tc__graph_open(to, t->c, &t->ix);
    int ok = tc__read_graph(t->c, &from, text, &outputs) &&
             tc__verify(t->c, &from, TC__TENSOR) &&
             tc__passes_run(t->c, &from, to, outputs.at, outputs.count, 0, 0);
    if (ok) {
        uint8_t *output = (uint8_t *)calloc(to->node.count + 1, 1);
        output[outputs.at[0]] = 1;
        CHECK(tc__schedule_run(s, t->c, to, output, NULL, TC__FUSE_LOADS));
        CHECK(tc__schedule_join(s, &tc__dialect_cuda));
        for (size_t k = 0; k < s->kernel.count; k++)
            if (CHECK(t->count < MOST_GROUPS)) t->group[t->count++] = s->kernel.at[k];
        free(output);
        t->graph[t->graphs] = to, t->schedule[t->graphs++] = s;
    } else {
        tc__graph_close(to), free(to), free(s);
    }
    tc_error_clear(t->c);
    TC__VEC_FREE(t->c, outputs);
    tc__graph_close(&from);
    return ok;
}

// op of operands `in` of the dtypes, giving `out`.
static int add_op(texts *t, int op, const int *in, int operands, int out) {
    char text[800];
    int n = 0;
    for (int i = 0; i < operands; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%%%d = input x%d %s[256]\n", i, i,
                      tc__dtypes[in[i]].name);
    n += snprintf(text + n, sizeof text - (size_t)n, "%%%d = %s", operands,
                  op == TC_OP_CAST ? "cast" : tc__op_name(op));
    for (int i = 0; i < operands; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %%%d", i);
    snprintf(text + n, sizeof text - (size_t)n, " %s[256]\nreturn %%%d\n",
             tc__dtypes[out].name, operands);
    return add_graph(t, text);
}

// Narrow integers are computed as i32: only conversions and memory know of them.
static const int computed[] = {TC_BOOL, TC_I32, TC_I64, TC_F16, TC_BF16, TC_F32, TC_F64};

// CUDA's own functions of double for angles have a few words of the stack for large ones.
static int has_stack(int op, int dtype) {
    return dtype == TC_F64 && (op == TC_OP_SIN || op == TC_OP_COS || op == TC_OP_TAN);
}

static int add_dtypes(texts *t, int op) {
    int made = 0, in[3];
    int operands = tc__ops[op].kind == TC__KIND_UNARY    ? 1
                   : tc__ops[op].kind == TC__KIND_BINARY ? 2
                                                         : 3;
    int rounds =
        op == TC_OP_FLOOR || op == TC_OP_CEIL || op == TC_OP_ROUND || op == TC_OP_TRUNC;
    for (size_t i = 0; i < TC__COUNT(computed); i++) {
        if (rounds && !tc__is_float(computed[i])) continue; // nothing to do is no op
        if (has_stack(op, computed[i])) continue;
        in[0] = op == TC_OP_WHERE ? TC_BOOL : computed[i];
        in[1] = in[2] = computed[i];
        made += add_op(t, op, in, operands, computed[i]) ||
                add_op(t, op, in, operands, TC_BOOL);
    }
    return made;
}

static int add_casts(texts *t) {
    int made = 0;
    for (int from = 0; from < TC_DTYPE_COUNT; from++)
        for (int to = 0; to < TC_DTYPE_COUNT; to++)
            made += add_op(t, TC_OP_CAST, &from, 1, to);
    return made;
}

static void compile_texts(texts *t, const char *arch) {
    tc__text text;
    nvrtc_result r;
    tc__text_init(&text, t->c);
    REQUIRE(tc__print_cuda_prelude(&text, t->group, t->count));
    for (int i = 0; i < t->count; i++) {
        char symbol[20];
        snprintf(symbol, sizeof symbol, "k%d", i);
        REQUIRE(tc__print_kernel(&text, t->group[i], &tc__dialect_cuda, symbol) ||
                FAIL("%s", tc_error_text(t->c)));
    }
    if (test_option("--save")) {
        FILE *f = fopen("build/texts.cu", "wb");
        if (f) fputs(text.at, f), fclose(f);
    }
    int ok = nvrtc_compile(text.at, arch, &r);
    CHECK((ok && !strstr(r.log, "warning") && !nvrtc_spills(&r)) ||
          FAIL("%s: %.3000s", arch, r.log));
    CHECK(r.cubin_size > 0);
    CHECK(!nvrtc_reads_early(&r));
    nvrtc_free(&r);
    tc__text_free(&text);
}

// The first or the second half of the ops.
static void check_half(const char *arch, int half) {
    static texts t;
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    t.c = tc_open(&config);
    tc__ix_open(&t.ix, t.c);
    for (int op = half; op < TC_OP_COUNT; op += 2) {
        if (!is_elementwise(op)) continue;
        int made = op == TC_OP_CAST ? add_casts(&t) : add_dtypes(&t, op);
        CHECK(made > 0 || FAIL("no graph of %s", tc__op_name(op)));
    }
    CHECK(t.count > 60);
    compile_texts(&t, arch);
    close_texts(&t);
}

// softmax(x[batch, m, k]) times [batch, k, n], or [batch, n, k] turned, plus bias[n].
typedef struct rows {
    int dtype, batch, m, n, k, turned;
} rows;

static const rows all_rows[] = {{TC_F32, 1, 16, 64, 64, 1},    {TC_F32, 1, 16, 64, 64, 0},
                                {TC_F32, 1, 5, 37, 31, 1},     {TC_F32, 1, 1, 256, 768, 1},
                                {TC_F32, 1, 3, 50, 900, 0},    {TC_F32, 1, 1, 99, 5000, 1},
                                {TC_F32, 1, 250, 64, 40, 1},   {TC_F32, 3, 50, 24, 64, 0},
                                {TC_F32, 1, 999, 10, 96, 1},   {TC_F32, 2, 70, 7, 33, 0},
                                {TC_F32, 2, 40, 3, 1024, 1},   {TC_BF16, 1, 16, 64, 64, 1},
                                {TC_BF16, 1, 1, 300, 4096, 1}, {TC_F16, 1, 7, 33, 70, 0},
                                {TC_F16, 2, 90, 4, 256, 1},    {TC_F64, 1, 12, 40, 40, 1},
                                {TC_F64, 1, 5, 99, 2000, 0},   {TC_F32, 1, 8, 128, 256, 1}};

static void add_rows(texts *t, const rows *q) {
    const char *d = tc__dtypes[q->dtype].name;
    char whole[60], one[60], product[60], text[2000];
    snprintf(whole, sizeof whole, "%s[%d,%d,%d]", d, q->batch, q->m, q->k);
    snprintf(one, sizeof one, "%s[%d,%d,1]", d, q->batch, q->m);
    snprintf(product, sizeof product, "%s[%d,%d,%d]", d, q->batch, q->m, q->n);
    int n = snprintf(text, sizeof text,
                     "%%0 = input x0 %s\n%%1 = input x1 %s[%d,%d,%d]\n%%2 = input x2 "
                     "%s[1,1,%d]\n%%3 = amax %%0 dims=4 %s\n%%4 = expand %%3 %s\n%%5 = sub "
                     "%%0 %%4 %s\n%%6 = exp %%5 %s\n%%7 = sum %%6 dims=4 %s\n%%8 = expand "
                     "%%7 %s\n%%9 = div %%6 %%8 %s\n",
                     whole, d, q->batch, q->turned ? q->n : q->k, q->turned ? q->k : q->n,
                     d, q->n, one, whole, whole, whole, one, whole, whole);
    if (q->turned)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%%10 = permute %%1 order=0,2,1 %s[%d,%d,%d]\n", d, q->batch, q->k,
                      q->n);
    snprintf(text + n, sizeof text - (size_t)n,
             "%%11 = matmul %%9 %%%d %s\n%%12 = expand %%2 %s\n%%13 = add %%11 %%12 "
             "%s\nreturn %%13\n",
             q->turned ? 10 : 1, product, product, product);
    int before = t->count;
    CHECK(add_graph(t, text) || FAIL("%s", text));
    CHECK(t->count == before + 1 ||
          FAIL("%d kernels: %dx%dx%dx%d", t->count - before, q->batch, q->m, q->n, q->k));
}

static void check_rows(const char *arch) {
    static texts t;
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    t.c = tc_open(&config);
    tc__ix_open(&t.ix, t.c);
    for (size_t i = 0; i < TC__COUNT(all_rows); i++) add_rows(&t, &all_rows[i]);
    compile_texts(&t, arch);
    close_texts(&t);
}

TEST(rows_of_products_sm_80) { check_rows("sm_80"); }
TEST(rows_of_products_sm_90a) { check_rows("sm_90a"); }

// Sums over no element, each alone in a file: no other kernel brings the functions that it calls.
TEST(sums_of_nothing) {
    static const char *const graphs[] = {
        "%0 = input x0 i32[3,0]\n%1 = sum %0 dims=2 i32[3,1]\nreturn %1\n",
        "%0 = input x0 f32[3,0,4]\n%1 = sum %0 dims=2 f32[3,1,4]\nreturn %1\n",
        "%0 = input x0 f64[0,5]\n%1 = prod %0 dims=1 f64[1,5]\nreturn %1\n",
        "size s0 in 0..100\n%0 = input x0 i32[3,s0]\n%1 = sum %0 dims=2 i32[3,1]\nreturn "
        "%1\n"};
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    for (size_t i = 0; i < TC__COUNT(graphs); i++) {
        static texts t;
        memset(&t, 0, sizeof t);
        t.c = tc_open(NULL);
        tc__ix_open(&t.ix, t.c);
        CHECK(add_graph(&t, graphs[i]) || FAIL("%s", graphs[i]));
        compile_texts(&t, "sm_90a");
        close_texts(&t);
    }
}

// Ops of the user's: each is a file of its own.
static void check_custom(const char *name, const char *source, tc_custom_shape shape,
                         const char *graph) {
    static const char *const archs[] = {"sm_80", "sm_90a"};
    static texts all;
    tc_custom_op op;
    memset(&all, 0, sizeof all), memset(&op, 0, sizeof op);
    all.c = tc_open(NULL);
    tc__ix_open(&all.ix, all.c);
    op.name = name, op.cuda_source = source, op.shape = shape;
    CHECK(tc_register_op(all.c, &op) > 0);
    REQUIRE(add_graph(&all, graph) || FAIL("%s", graph));
    CHECK_EQ(all.count, 1);
    for (int i = 0; i < 2; i++) compile_texts(&all, archs[i]);
    close_texts(&all);
}

static tc_status rows_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)n_in;
    out->rank = 1, out->dims[0] = in->dims[0];
    return TC_OK;
}

TEST(custom_ops) {
    char graph[200];
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    for (int t = 0; t < TC_DTYPE_COUNT; t++) {
        const char *dtype = tc__dtypes[t].name;
        snprintf(
            graph, sizeof graph,
            "%%0 = input x0 %s[256,8]\n%%1 = custom %%0 op=any %s[256,8]\nreturn %%1\n",
            dtype, dtype);
        check_custom("any", any_there, NULL, graph);
    }
    check_custom("sums", sums_there, rows_shape,
                 "%0 = input x0 f32[256,8]\n%1 = custom %0 op=sums f32[256]\nreturn %1\n");
}

// Of f8 alone: 8.9 has instructions for it.
static void check_f8(const char *arch) {
    static texts t;
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    t.c = tc_open(&config);
    tc__ix_open(&t.ix, t.c);
    for (int f8 = TC_F8E4M3; f8 <= TC_F8E5M2; f8++)
        for (int other = 0; other < TC_DTYPE_COUNT; other++) {
            if (other == f8) continue;
            CHECK(add_op(&t, TC_OP_CAST, &f8, 1, other));
            CHECK(add_op(&t, TC_OP_CAST, &other, 1, f8));
        }
    compile_texts(&t, arch);
    close_texts(&t);
}

TEST(f8_sm_80) { check_f8("sm_80"); }
TEST(f8_sm_89) { check_f8("sm_89"); }

// No other text asks which of 8.0 and 8.9 it is for: each is compiled for one of them.
TEST(sm_80) { check_half("sm_80", 0); }
TEST(sm_89_others) { check_half("sm_89", 1); }
TEST(sm_90a) { check_half("sm_90a", 0); }
TEST(sm_90a_others) { check_half("sm_90a", 1); }
