// Unit tests of gen/kernel/schedule.c, walk.c, lower.c and gen/pass/rules.c: graphs as
// text become kernels that are run in the interpreter and compared with plain C, fused or
// not, with and without passes, and with sizes known only at run time.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"
#include "bare.h"

#include <dlfcn.h>
#include <math.h>

enum { MAX_KERNELS = 16, MAX_BUFFERS = 64 };

typedef struct kit {
    tc_ctx *c;
    tc__ixpool ix;
    tc__graph from, g;
    tc__ids outputs;
    tc__schedule s;
} kit;

static void kit_open(kit *t, const char *text, uint32_t passes_off, tc__fuse fuse) {
    memset(t, 0, sizeof *t);
    static tc__hooks hooks; // a bare context folds, and does nothing else that is asked for
    t->c = bare_open();
    hooks.evaluate = tc__hook_evaluate;
    tc__recorder_of(t->c)->hooks = &hooks;
    tc__ix_open(&t->ix, t->c);
    tc__graph_open(&t->from, t->c, &t->ix), tc__graph_open(&t->g, t->c, &t->ix);
    CHECK(tc__read_graph(t->c, &t->from, text, &t->outputs));
    CHECK(tc__verify(t->c, &t->from, TC__TENSOR));
    CHECK(tc__passes_run(t->c, &t->from, &t->g, t->outputs.at, t->outputs.count, passes_off,
                         0));
    CHECK(tc__verify(t->c, &t->g, TC__TENSOR));
    uint8_t *output = TC__NEW_ARRAY(t->c, uint8_t, t->g.node.count + 1);
    for (size_t i = 0; i < t->outputs.count; i++) output[t->outputs.at[i]] = 1;
    CHECK(tc__schedule_run(&t->s, t->c, &t->g, output, NULL, fuse));
    for (size_t i = 0; i < t->s.kernel.count; i++)
        CHECK(tc__verify(t->c, &t->s.kernel.at[i]->body, TC__LOOP));
    tc__free(t->c, output, t->g.node.count + 1);
    CHECK_STR(tc_error_text(t->c), "");
}

static void kit_close(kit *t) {
    tc__schedule_close(&t->s);
    TC__VEC_FREE(t->c, t->outputs);
    tc__graph_close(&t->g), tc__graph_close(&t->from);
    tc__ix_close(&t->ix);
    bare_close(t->c);
}

// Memory of every stored node, by node; made when a kernel first names it.
typedef struct memory {
    void *at[4096];
} memory;

typedef void (*compiled)(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker);

// f: the kernel's compiled text; NULL = the interpreter runs it.
static void run_kernel(kit *t, tc__group *k, memory *m, void *const *input,
                       const int64_t *size, compiled f) {
    void *buf[MAX_BUFFERS], *scratch;
    int64_t flag[3] = {0, 0, 0};
    tc__ixenv env;
    tc__kargs a;
    memset(&env, 0, sizeof env), memset(&a, 0, sizeof a);
    env.sym = size;
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        size_t bytes =
            (size_t)tc__ix_eval(&t->ix, b->numel, &env) * tc__dtype(b->dtype)->bytes + 64;
        buf[i] = b->place == TC__BUF_INPUT ? input[b->source] : NULL;
        if (b->place != TC__BUF_NODE) continue;
        if (!m->at[b->source]) m->at[b->source] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        buf[i] = m->at[b->source];
    }
    tc__interp *p = tc__interp_prepare(t->c, k);
    REQUIRE(p != NULL);
    size_t need = tc__interp_scratch_bytes(p, size) + 64,
           also = (size_t)tc__ix_eval(&t->ix, k->shape.scratch, &env) + 64;
    if (also > need) need = also;
    scratch = aligned_alloc(64, (need + 63) / 64 * 64);
    a.buf = buf, a.size = size, a.scratch = &scratch, a.flag = flag;
    int64_t items = tc__ix_eval(&t->ix, k->shape.items, &env);
    if (f)
        f(&a, 0, items, 0);
    else
        tc__interp_run(p, &a, 0, items, 0);
    CHECK_EQ(flag[0], 0);
    free(scratch);
    tc__interp_free(p);
}

// Runs everything; the first output's `n` floats to out. f: of the only kernel, or NULL.
static void run_with(kit *t, void *const *input, const int64_t *size, float *out, size_t n,
                     compiled f) {
    memory *m = (memory *)calloc(1, sizeof *m);
    for (size_t i = 0; i < t->s.kernel.count; i++)
        run_kernel(t, t->s.kernel.at[i], m, input, size, f);
    if (CHECK(m->at[t->outputs.at[0]] != NULL))
        memcpy(out, m->at[t->outputs.at[0]], n * sizeof *out);
    for (size_t i = 0; i < 4096; i++) free(m->at[i]);
    free(m);
}

static void run_all(kit *t, void *const *input, const int64_t *size, float *out, size_t n) {
    run_with(t, input, size, out, n, NULL);
}

static float *randoms(size_t n, uint32_t seed) {
    float *x = (float *)aligned_alloc(64, (n * sizeof *x + 127) / 64 * 64);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)seed / 1073741824.0f;
    }
    return x;
}

// ---- sizes known only at run time ----

static const char *const softmax = "size s0 in 0..100000\n"
                                   "%0 = input x0       f32[8,s0]\n"
                                   "%1 = amax %0 dims=2 f32[8,1]\n"
                                   "%2 = expand %1      f32[8,s0]\n"
                                   "%3 = sub %0 %2      f32[8,s0]\n"
                                   "%4 = exp %3         f32[8,s0]\n"
                                   "%5 = sum %4 dims=2  f32[8,1]\n"
                                   "%6 = expand %5      f32[8,s0]\n"
                                   "%7 = div %4 %6      f32[8,s0]\n"
                                   "return %7\n";

static void check_softmax(const float *x, const float *y, size_t rows, size_t n) {
    for (size_t r = 0; r < rows; r++) {
        double most = -INFINITY, sum = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, (double)x[r * n + i]);
        for (size_t i = 0; i < n; i++) sum += exp((double)x[r * n + i] - most);
        for (size_t i = 0; i < n; i++)
            CHECK_NEAR(y[r * n + i], exp((double)x[r * n + i] - most) / sum, 1e-6);
    }
}

// The same text with the size put in: the static kernel must give the same bits.
static void static_text(char *out, size_t size, size_t n) {
    char number[24];
    size_t k = 0;
    const char *s = strchr(softmax, '\n') + 1;
    snprintf(number, sizeof number, "%zu", n);
    for (; *s && k + 24 < size; s++) {
        if (s[0] != 's' || s[1] != '0') {
            out[k++] = *s;
            continue;
        }
        k += (size_t)snprintf(out + k, size - k, "%s", number);
        s++;
    }
    out[k] = 0;
}

TEST(one_symbolic_kernel_serves_all_lengths) {
    static const int64_t lengths[] = {1, 7, 32, 777, 8192, 8193, 20001};
    kit t, u;
    kit_open(&t, softmax, 0, TC__FUSE);
    CHECK_EQ(t.s.kernel.count, 1);
    for (size_t i = 0; i < TC__COUNT(lengths); i++) {
        char text[1000];
        size_t n = (size_t)lengths[i];
        float *x = randoms(8 * n, 5), *y = randoms(8 * n, 6), *z = randoms(8 * n, 7);
        void *input = x;
        run_all(&t, &input, &lengths[i], y, 8 * n);
        check_softmax(x, y, 8, n);
        static_text(text, sizeof text, n);
        kit_open(&u, text, 0, TC__FUSE);
        run_all(&u, &input, NULL, z, 8 * n);
        CHECK_BYTES(y, z, 8 * n * sizeof *y);
        kit_close(&u);
        free(x), free(y), free(z);
    }
    kit_close(&t);
}

// The text built by `cc` and loaded; NULL and a failed check if that does not work.
static compiled built(kit *t, const char *folder, int avx2) {
    char path[300], line[900];
    const tc__group *groups[1] = {t->s.kernel.at[0]};
    compiled f = NULL;
    tc__text out;
    tc__text_init(&out, t->c);
    const char *name = "kernel";
    CHECK(tc__print_unit(&out, groups, &name, 1, avx2));
    CHECK(strstr(out.at, "s0 = a->size[0]"));
    snprintf(path, sizeof path, "%s/k%d.c", folder, avx2);
    FILE *file = fopen(path, "wb");
    if (CHECK(file != NULL)) fwrite(out.at, 1, out.size, file), fclose(file);
    tc__text_free(&out);
    snprintf(line, sizeof line,
             "cc -O1 %s -Wno-psabi -fno-math-errno -fno-trapping-math -ffp-contract=off "
             "-fwrapv -fPIC -shared -nostdlib -o %s/k%d.so %s",
             avx2 ? "-mavx2 -mfma -mf16c" : "", folder, avx2, path);
    CHECK(system(line) == 0);
    snprintf(path, sizeof path, "%s/k%d.so", folder, avx2);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL),
         *symbol = so ? dlsym(so, "kernel") : NULL;
    if (CHECK(symbol != NULL)) memcpy(&f, &symbol, sizeof f);
    return f;
}

static void check_lengths(kit *t, compiled f) {
    static const int64_t lengths[] = {0, 1, 7, 8, 33, 8193, 20001};
    for (size_t i = 0; i < TC__COUNT(lengths); i++) {
        size_t n = (size_t)lengths[i];
        float *x = randoms(8 * n, 5), *y = randoms(8 * n, 6), *z = randoms(8 * n, 7);
        void *input = x;
        run_all(t, &input, &lengths[i], y, 8 * n);
        run_with(t, &input, &lengths[i], z, 8 * n, f);
        check_softmax(x, z, 8, n);
        CHECK_BYTES(y, z, 8 * n * sizeof *y);
        free(x), free(y), free(z);
    }
}

TEST(symbolic_kernel_compiles_and_serves_all_lengths) {
    kit t;
    char folder[] = "/tmp/tc_schedule_XXXXXX";
    if (system("cc --version >/dev/null 2>&1")) SKIP("no cc");
    REQUIRE(test_folder_make(folder));
    kit_open(&t, softmax, 0, TC__FUSE);
    REQUIRE(t.s.kernel.count == 1);
    for (int avx2 = 0; avx2 < 2; avx2++) {
        if (avx2 && (tc__cpu_features() & 3) != 3) continue;
        compiled f = built(&t, folder, avx2);
        if (f) check_lengths(&t, f);
    }
    kit_close(&t);
    test_folder_remove(folder);
}

// ---- passes and fusion change no bits ----

static const char *const stencils =
    "%0 = input x0           f32[32,40]\n"
    "%1 = exp %0             f32[32,40]\n"
    "%2 = pad %1 dim=1 low=1 high=1 dilation=1 fill=0  f32[32,42]\n"
    "%3 = slice %2 dim=1 start=0 count=40 step=1  f32[32,40]\n"
    "%4 = slice %2 dim=1 start=1 count=40 step=1  f32[32,40]\n"
    "%5 = slice %2 dim=1 start=2 count=40 step=1  f32[32,40]\n"
    "%6 = add %3 %4          f32[32,40]\n"
    "%7 = add %6 %5          f32[32,40]\n"
    "%8 = pad %1 dim=0 low=2 high=3 dilation=1 fill=0  f32[37,40]\n"
    "%9 = slice %8 dim=0 start=0 count=32 step=1  f32[32,40]\n"
    "%10 = slice %8 dim=0 start=5 count=32 step=1  f32[32,40]\n"
    "%11 = sub %9 %10        f32[32,40]\n"
    "%12 = mul %7 %11        f32[32,40]\n"
    "%13 = pad %8 dim=1 low=0 high=4 dilation=1 fill=0  f32[37,44]\n"
    "%14 = slice %13 dim=1 start=4 count=40 step=1  f32[37,40]\n"
    "%15 = slice %14 dim=0 start=2 count=32 step=1  f32[32,40]\n"
    "%16 = sub %12 %1        f32[32,40]\n"
    "%17 = add %16 %15       f32[32,40]\n"
    "%18 = amax %17 dims=2   f32[32,1]\n"
    "%19 = expand %18        f32[32,40]\n"
    "%20 = div %17 %19       f32[32,40]\n"
    "return %20 %1\n";

static double image(const float *x, int r, int c) {
    return r < 0 || r >= 32 || c < 0 || c >= 40 ? 0 : exp((double)x[r * 40 + c]);
}

static void check_stencils(const float *x, const float *y) {
    for (int r = 0; r < 32; r++) {
        double v[40], most = -INFINITY;
        for (int c = 0; c < 40; c++) {
            double row = image(x, r, c - 1) + image(x, r, c) + image(x, r, c + 1);
            v[c] = row * (image(x, r - 2, c) - image(x, r + 3, c)) - image(x, r, c) +
                   image(x, r, c + 4);
            most = fmax(most, v[c]);
        }
        for (int c = 0; c < 40; c++)
            CHECK_NEAR(y[r * 40 + c], v[c] / most, 1e-4 * (1 + fabs(v[c] / most)));
    }
}

TEST(passes_and_fusion_change_no_bits) {
    float *x = randoms(32 * 40, 11), *first = randoms(32 * 40, 1), *y = randoms(32 * 40, 2);
    void *input = x;
    for (uint32_t off = 0; off < 16; off++) {
        for (int fuse = 0; fuse < 2; fuse++) {
            kit t;
            kit_open(&t, stencils, off, fuse ? TC__FUSE : TC__FUSE_NOTHING);
            run_all(&t, &input, NULL, off || fuse ? y : first, 32 * 40);
            if (!off && !fuse)
                check_stencils(x, first);
            else
                CHECK_BYTES(y, first, 32 * 40 * sizeof *y);
            kit_close(&t);
        }
    }
    free(x), free(first), free(y);
}

// ---- single rules ----

static size_t nodes_after(const char *text, const char *last) {
    kit t;
    kit_open(&t, text, 0, TC__FUSE);
    size_t n = t.g.node.count;
    tc__op op = n ? (tc__op)t.g.node.at[t.outputs.at[0]]->op : TC_OP_COUNT;
    CHECK_STR(tc__op_name((tc__op)op), last);
    kit_close(&t);
    return n;
}

#define ONE(dtype, value)                                                                  \
    "%1 = const " value " " dtype "[]\n%2 = reshape %1 " dtype                             \
    "[1]\n%3 = expand %2 " dtype "[4]\n"

TEST(rules_hold_and_strict_ones_do_not) {
    CHECK_EQ(nodes_after("%0 = input x0 f32[4]\n" ONE(
                             "f32", "1") "%4 = mul %0 %3 f32[4]\nreturn %4",
                         "input"),
             1);
    CHECK_EQ(nodes_after("%0 = input x0 f32[4]\n" ONE(
                             "f32", "0") "%4 = sub %0 %3 f32[4]\nreturn %4",
                         "input"),
             1);
    nodes_after(
        "%0 = input x0 f32[4]\n" ONE("f32", "-0") "%4 = sub %0 %3 f32[4]\nreturn %4",
        "sub");
    nodes_after("%0 = input x0 f32[4]\n" ONE("f32", "0") "%4 = add %0 %3 f32[4]\nreturn %4",
                "add");
    nodes_after("%0 = input x0 f32[4]\n" ONE("f32", "0") "%4 = mul %0 %3 f32[4]\nreturn %4",
                "mul");
    CHECK_EQ(nodes_after("%0 = input x0 i32[4]\n" ONE(
                             "i32", "0") "%4 = add %0 %3 i32[4]\nreturn %4",
                         "input"),
             1);
    nodes_after("%0 = input x0 f32[4]\n%1 = neg %0 f32[4]\n%2 = neg %1 f32[4]\nreturn %2",
                "input");
    nodes_after("%0 = input x0 i32[4]\n%1 = cast %0 f32[4]\n%2 = cast %1 i32[4]\nreturn %2",
                "cast");
    nodes_after("%0 = input x0 i32[4]\n%1 = cast %0 f64[4]\n%2 = cast %1 i32[4]\nreturn %2",
                "input");
    CHECK_EQ(nodes_after(
                 "%0 = input x0 i32[4]\n%1 = cast %0 f64[4]\n%2 = cast %1 u8[4]\nreturn %2",
                 "cast"),
             3);
    CHECK_EQ(nodes_after(
                 "%0 = input x0 i32[4]\n%1 = cast %0 i64[4]\n%2 = cast %1 u8[4]\nreturn %2",
                 "cast"),
             2);
    nodes_after("%0 = input x0 f32[4]\n%1 = maximum %0 %0 f32[4]\nreturn %1", "input");
    nodes_after(
        "%0 = input x0 f32[4]\n%1 = pad %0 dim=0 low=2 high=1 dilation=1 fill=0 f32[7]\n"
        "%2 = slice %1 dim=0 start=2 count=4 step=1 f32[4]\nreturn %2",
        "input");
    CHECK_EQ(
        nodes_after(
            "%0 = input x0 f32[4]\n%1 = pad %0 dim=0 low=2 high=1 dilation=1 fill=0 f32[7]\n"
            "%2 = slice %1 dim=0 start=1 count=4 step=1 f32[4]\nreturn %2",
            "slice"),
        3);
}

// "%1 = const 3 f32[]" ... "%4 = fma %1 %2 %3 f32[]": an op of constants, which `first`... count through.
static void put_constants(char *text, size_t room, tc__op op, int dtype,
                          const char *const *values, size_t n, size_t first) {
    static const char *const truth[] = {"0", "1"};
    const tc__op_info *o = &tc__ops[op];
    const char *name = tc__dtype(dtype)->name, *gives = name;
    size_t used = 0;
    if (o->dtype == tc__dtype_compare || o->dtype == tc__dtype_logic) gives = "bool";
    for (int i = 0; i < o->arity; i++) {
        int chosen = op == TC_OP_WHERE && !i;
        used +=
            (size_t)snprintf(text + used, room - used, "%%%d = const %s %s[]\n", i,
                             chosen ? truth[first % 2]
                                    : values[(first * (2 * (size_t)i + 1) + (size_t)i) % n],
                             chosen ? "bool" : name);
    }
    used +=
        (size_t)snprintf(text + used, room - used, "%%%d = %s", o->arity, tc__op_name(op));
    for (int i = 0; i < o->arity; i++)
        used += (size_t)snprintf(text + used, room - used, " %%%d", i);
    snprintf(text + used, room - used, " %s[]\nreturn %%%d", gives, o->arity);
}

static void check_folded(const char *text) {
    float dummy[1] = {0};
    double y[2] = {0, 0}, z[2] = {0, 0};
    void *input = dummy;
    kit t;
    kit_open(&t, text, 0, TC__FUSE);
    const tc__node *n = t.g.node.at[t.outputs.at[0]];
    CHECK(n->op == TC_OP_CONST || FAIL("%s: not folded", text));
    int dtype = n->dtype;
    size_t bytes = tc__dtype(dtype)->bytes;
    run_all(&t, &input, NULL, (float *)(void *)y, 2);
    kit_close(&t);
    kit_open(&t, text, UINT32_MAX, TC__FUSE);
    run_all(&t, &input, NULL, (float *)(void *)z, 2);
    kit_close(&t);
    float v, w;
    memcpy(&v, y, sizeof v), memcpy(&w, z, sizeof w);
    int nan = (dtype == TC_F32 && isnan(v) && isnan(w)) ||
              (dtype == TC_F64 && isnan(y[0]) && isnan(z[0]));
    CHECK(nan || !memcmp(y, z, bytes) || FAIL("%s: %a and %a", text, (double)v, (double)w));
}

// Folding gives the bits of the kernel: every op on every dtype that the interpreter has it for.
TEST(folding_gives_the_ops_own_bits) {
    static const char *const floats[] = {"0",     "-0",   "1",   "-1",   "0.1", "3", "-2.5",
                                         "1e-40", "3e38", "inf", "-inf", "nan", "7"};
    static const char *const integers[] = {"0",  "1",  "-1",          "7",         "-3",
                                           "33", "64", "-2147483648", "2147483647"};
    static const char *const truths[] = {"0", "1"};
    static const int dtypes[] = {TC_BOOL, TC_I32, TC_I64, TC_F32, TC_F64};
    size_t folded = 0;
    for (int op = 0; op < TC_OP_COUNT; op++) {
        tc__kind k = tc__ops[op].kind;
        if (k != TC__KIND_UNARY && k != TC__KIND_BINARY && k != TC__KIND_TERNARY) continue;
        for (size_t d = 0; d < TC__COUNT(dtypes); d++) {
            int real = tc__is_float(dtypes[d]), truth = dtypes[d] == TC_BOOL;
            const char *const *values = real ? floats : truth ? truths : integers;
            size_t n = real    ? TC__COUNT(floats)
                       : truth ? TC__COUNT(truths)
                               : TC__COUNT(integers);
            if (!tc__isa_scalar.alu[op][dtypes[d]]) continue;
            for (size_t i = 0; i < n; i++) {
                char text[400];
                put_constants(text, sizeof text, (tc__op)op, dtypes[d], values, n, i);
                check_folded(text);
                folded++;
            }
        }
    }
    CHECK(folded > 1000);
}

// ---- casts there and back

static size_t count_of(const kit *t, tc__op op) {
    size_t n = 0;
    for (size_t i = 0; i < t->s.kernel.count; i++)
        for (size_t j = 0; j < t->s.kernel.at[i]->body.node.count; j++)
            n += t->s.kernel.at[i]->body.node.at[j]->op == op;
    return n;
}

// Casts of the kernel that takes x from a dtype to another and back, with movement between.
static size_t casts_of(const char *from, const char *to) {
    char text[500];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0 %s[8,16]\n"
             "%%1 = cast %%0 %s[8,16]\n"
             "%%2 = reshape %%1 %s[128]\n"
             "%%3 = cast %%2 %s[128]\n"
             "return %%3\n",
             from, to, to, from);
    kit_open(&t, text, 0, TC__FUSE);
    size_t n = count_of(&t, TC_OP_CAST);
    kit_close(&t);
    return n;
}

TEST(casts_there_and_back_are_none) {
    static const char *const exact[][2] = {
        {"bf16", "f32"}, {"f16", "f32"},  {"bf16", "f64"}, {"f16", "f64"}, {"f32", "f64"},
        {"u8", "i32"},   {"i8", "i64"},   {"i32", "i64"},  {"i32", "f64"}, {"u8", "f16"},
        {"i8", "bf16"},  {"bool", "f32"}, {"bool", "u8"},  {"u8", "bf16"}};
    static const char *const lossy[][2] = {
        {"f32", "bf16"}, {"f32", "f16"}, {"f16", "bf16"}, {"bf16", "f16"},
        {"f64", "f32"},  {"i64", "f64"}, {"i32", "f32"},  {"i8", "u8"},
        {"u8", "i8"},    {"i64", "i32"}, {"f32", "i64"},  {"i32", "bool"}};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        CHECK(casts_of(exact[i][0], exact[i][1]) == 0 ||
              FAIL("%s to %s", exact[i][0], exact[i][1]));
    for (size_t i = 0; i < sizeof lossy / sizeof *lossy; i++)
        CHECK(casts_of(lossy[i][0], lossy[i][1]) == 2 ||
              FAIL("%s to %s", lossy[i][0], lossy[i][1]));
}

// Casts behind the stored half of a product, with `move` from %4 f32[32,48] to %5 f32[rows,cols] between.
static size_t casts_behind_product(const char *move, int rows, int cols) {
    char text[1000];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0 bf16[32,64]\n"
             "%%1 = input x1 bf16[64,48]\n"
             "%%2 = input x2 bf16[%d,8]\n"
             "%%3 = matmul %%0 %%1 bf16[32,48]\n"
             "%%4 = cast %%3 f32[32,48]\n"
             "%s"
             "%%6 = cast %%5 bf16[%d,%d]\n"
             "%%7 = matmul %%6 %%2 bf16[%d,8]\n"
             "return %%7\n",
             cols, move, rows, cols, rows);
    kit_open(&t, text, 0, TC__FUSE_LOADS);
    CHECK_EQ(t.s.kernel.count, 2);
    size_t n = count_of(&t, TC_OP_CAST);
    kit_close(&t);
    return n;
}

TEST(movement_between_casts_is_gone) {
    CHECK_EQ(casts_behind_product("%5 = reshape %4 f32[64,24]\n", 64, 24), 0);
    CHECK_EQ(casts_behind_product("%5 = permute %4 order=1,0 f32[48,32]\n", 48, 32), 0);
    CHECK_EQ(casts_behind_product("%5 = detach %4 mark=0 f32[32,48]\n", 32, 48), 0);
    CHECK_EQ(casts_behind_product("%5 = slice %4 dim=1 start=8 count=16 step=2 "
                                  "f32[32,16]\n",
                                  32, 16),
             0);
    CHECK_EQ(casts_behind_product("%5 = pad %4 dim=1 low=0 high=8 dilation=1 fill=0 "
                                  "f32[32,56]\n",
                                  32, 56),
             0);
}

// A half that is computed is f32 in its kernel, so the cast back rounds it: the square of 1 + 1/128 is
// 1 + 1/64 + 1/16384, and halves have no 1/16384 there.
TEST(casts_of_what_is_computed_round) {
    static const char *const text = "%0 = input x0 bf16[8,16]\n"
                                    "%1 = mul %0 %0 bf16[8,16]\n"
                                    "%2 = cast %1 f32[8,16]\n"
                                    "%3 = reshape %2 f32[128]\n"
                                    "%4 = cast %3 bf16[128]\n"
                                    "%5 = cast %4 f32[128]\n"
                                    "return %5\n";
    uint16_t *x = (uint16_t *)aligned_alloc(64, 256);
    float y[128];
    void *input[1];
    kit t;
    for (int i = 0; i < 128; i++) x[i] = 0x3f81;
    input[0] = x;
    kit_open(&t, text, 0, TC__FUSE);
    CHECK_EQ(t.s.kernel.count, 1);
    run_all(&t, input, NULL, y, 128);
    for (int i = 0; i < 128; i++) CHECK_EQ(y[i], 1.015625f);
    kit_close(&t);
    free(x);
}

// All halves there and back: the same bits, and NaN is NaN.
static void check_halves(const char *half, unsigned exponent) {
    char text[300];
    uint16_t *x = (uint16_t *)aligned_alloc(64, 65536 * sizeof *x),
             *y = (uint16_t *)aligned_alloc(64, 65536 * sizeof *y);
    void *input[1];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0 %s[256,256]\n"
             "%%1 = cast %%0 f32[256,256]\n"
             "%%2 = permute %%1 order=1,0 f32[256,256]\n"
             "%%3 = cast %%2 %s[256,256]\n"
             "return %%3\n",
             half, half);
    for (unsigned i = 0; i < 65536; i++) x[i] = (uint16_t)i;
    input[0] = x;
    kit_open(&t, text, 0, TC__FUSE);
    run_all(&t, input, NULL, (float *)(void *)y, 32768);
    for (unsigned i = 0; i < 65536; i++) {
        unsigned from = (i % 256) * 256 + i / 256;
        int nan = (from & 0x7fff) > exponent;
        CHECK(nan ? (y[i] & 0x7fffu) > exponent : y[i] == from);
    }
    kit_close(&t);
    free(x), free(y);
}

TEST(halves_there_and_back_keep_their_bits) {
    check_halves("bf16", 0x7f80), check_halves("f16", 0x7c00);
}

// ---- factors of products that are made where they are loaded

// Kernels of x[ROWS, 256] times w[256, 512], what is w: from x1, bytes, and x2, f32.
static size_t kernels_of_factor(int rows, const char *w, tc__fuse fuse) {
    char text[2000];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0 f32[%d,256]\n"
             "%%1 = input x1 i8[256,512]\n"
             "%%2 = cast %%1 f32[256,512]\n"
             "%s"
             "%%9 = matmul %%0 %%8 f32[%d,512]\n"
             "return %%9\n",
             rows, w, rows);
    kit_open(&t, text, 0, fuse);
    size_t n = t.s.kernel.count;
    kit_close(&t);
    return n;
}

#define SCALE                                                                              \
    "%3 = input x2 f32[1,512]\n"                                                           \
    "%4 = expand %3 f32[256,512]\n"                                                        \
    "%5 = mul %2 %4 f32[256,512]\n"

TEST(factors_at_loads) {
    static const char *const scaled = SCALE "%8 = neg %5 f32[256,512]\n";
    CHECK_EQ(kernels_of_factor(64, scaled, TC__FUSE_LOADS), 1);
    CHECK_EQ(kernels_of_factor(64, scaled, TC__FUSE), 2);
    CHECK_EQ(kernels_of_factor(128, scaled, TC__FUSE_LOADS), 1);
    CHECK_EQ(kernels_of_factor(129, scaled, TC__FUSE_LOADS), 2); // again for each tile
}

// Kernels of x[rows, 256] times w[256, 512], which is rounded to bf16.
static size_t kernels_of_rounded(int rows, tc__fuse fuse) {
    char text[500];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0 bf16[%d,256]\n"
             "%%1 = input x1 f32[256,512]\n"
             "%%2 = cast %%1 bf16[256,512]\n"
             "%%3 = matmul %%0 %%2 bf16[%d,512]\n"
             "return %%3\n",
             rows, rows);
    kit_open(&t, text, 0, fuse);
    size_t n = t.s.kernel.count;
    kit_close(&t);
    return n;
}

TEST(factors_rounded_at_loads) {
    CHECK_EQ(kernels_of_rounded(128, TC__FUSE_LOADS), 1);
    CHECK_EQ(kernels_of_rounded(129, TC__FUSE_LOADS), 2);
    CHECK_EQ(kernels_of_rounded(129, TC__FUSE), 1); // a host packs what it loads
}

TEST(factors_in_memory) {
    static const char *const wide = // 5 bytes are read where 4 would be
        "%3 = input x2 f32[256,512]\n"
        "%8 = mul %2 %3 f32[256,512]\n";
    static const char *const dear = SCALE "%8 = exp %5 f32[256,512]\n";
    static const char *const summed = // a kernel makes it anyway
        SCALE "%6 = sum %5 dims=1 f32[1,512]\n"
              "%7 = expand %6 f32[256,512]\n"
              "%8 = sub %5 %7 f32[256,512]\n";
    static const char *const random = "%3 = random kind=0 draw=0 f32[256,512]\n"
                                      "%8 = mul %2 %3 f32[256,512]\n";
    CHECK_EQ(kernels_of_factor(64, wide, TC__FUSE_LOADS), 2);
    CHECK_EQ(kernels_of_factor(64, dear, TC__FUSE_LOADS), 2);
    CHECK_EQ(kernels_of_factor(64, summed, TC__FUSE_LOADS), 2);
    CHECK_EQ(kernels_of_factor(64, random, TC__FUSE_LOADS), 2);
}

// ---- factors that are put together of parts ----

// Gradients of two slices of 64 columns, added up, for a product; `more` names what is returned.
#define PARTS(more)                                                                        \
    "%0 = input x0 f32[32,64]\n%1 = input x1 f32[128,48]\n"                                \
    "%2 = exp %0 f32[32,64]\n"                                                             \
    "%3 = mul %2 %0 f32[32,64]\n"                                                          \
    "%4 = pad %3 dim=1 low=0 high=64 dilation=1 fill=0 f32[32,128]\n"                      \
    "%5 = sub %2 %0 f32[32,64]\n"                                                          \
    "%6 = pad %5 dim=1 low=64 high=0 dilation=1 fill=0 f32[32,128]\n"                      \
    "%7 = add %4 %6 f32[32,128]\n"                                                         \
    "%8 = matmul %7 %1 f32[32,48]\n" more

static size_t kernels_of(const char *text) {
    kit t;
    kit_open(&t, text, 0, TC__FUSE);
    size_t n = t.s.kernel.count;
    kit_close(&t);
    return n;
}

TEST(parts_for_a_product_are_made_with_what_they_share) {
    CHECK_EQ(kernels_of(PARTS("return %8 %2\n")), 2);
    // whole rows share a kernel with who adds them up instead
    CHECK_EQ(kernels_of(PARTS("%9 = sum %7 dims=2 f32[32,1]\nreturn %8 %2 %9\n")), 3);
}

TEST(parts_have_the_bits_of_their_sum) { // +0 + -0 is +0
    float *x = randoms(32 * 64, 5), *w = randoms(128 * 48, 6), *y = randoms(32 * 128, 7);
    void *input[] = {x, w};
    kit t;
    x[3] = 0.0f, x[70] = -0.0f, x[130] = -INFINITY;
    kit_open(&t, PARTS("return %7 %8 %2\n"), 0, TC__FUSE);
    run_all(&t, input, NULL, y, 32 * 128);
    CHECK(y[128 + 6] == 0 && !signbit(y[128 + 6]) && isnan(y[2 * 128 + 2]));
    CHECK(y[2 * 128 + 64 + 2] == INFINITY);
    for (int r = 0; r < 32; r++)
        for (int c = 0; c < 64; c++) {
            double a = (double)x[r * 64 + c], e = exp(a);
            if (a == -INFINITY) continue;
            CHECK_NEAR(y[r * 128 + c], e * a, 1e-5 * (1 + fabs(e * a)));
            CHECK_NEAR(y[r * 128 + 64 + c], e - a, 1e-5 * (1 + e));
        }
    kit_close(&t);
    free(x), free(w), free(y);
}

// ---- kernels as bytes ----

typedef struct bytes {
    size_t size;
    unsigned char at[1 << 14];
} bytes;

static void bytes_of(tc_ctx *c, const tc__group *g, bytes *b) {
    tc__text t;
    tc__text_init(&t, c);
    tc__put_group_numbers(&t, g);
    CHECK(!t.failed && t.size < sizeof b->at);
    b->size = t.size;
    memcpy(b->at, t.at, t.size);
    tc__text_free(&t);
}

static bytes before, after;

// Whether the bytes are others than before.
static int has_changed(tc_ctx *c, const tc__group *g) {
    bytes_of(c, g, &after);
    return before.size != after.size || memcmp(before.at, after.at, before.size) != 0;
}

#define CHANGES(lvalue, value)                                                             \
    do {                                                                                   \
        __typeof__(lvalue) was = (lvalue);                                                 \
        (lvalue) = (__typeof__(lvalue))(value);                                            \
        if (!has_changed(c, g)) FAIL("kernel %zu: " #lvalue " is not in its bytes", k);    \
        (lvalue) = was;                                                                    \
        if (has_changed(c, g)) FAIL("kernel %zu: " #lvalue ": other bytes", k);            \
    } while (0)

static void change_shape(tc_ctx *c, tc__group *g, size_t k) {
    tc__group_shape *s = &g->shape;
    tc__ix other = tc__ix_sym(g->body.ix, 7, 0, 1000);
    CHANGES(s->rows, other);
    CHANGES(s->cols, other);
    CHANGES(s->batch, other);
    CHANGES(s->items, other);
    CHANGES(s->wide, other);
    CHANGES(s->scratch, other);
    CHANGES(s->grain, s->grain + 1);
    CHANGES(s->kind, s->kind + 1);
    CHANGES(s->vector, s->vector + 1);
    CHANGES(s->prologue, s->prologue + 1);
    CHANGES(s->phases, s->phases + 1);
    CHANGES(s->split_columns, !s->split_columns);
    CHANGES(s->lanes, s->lanes + 8);
    CHANGES(s->list, s->list + 1);
    for (int i = 0; i < TC__KNOBS; i++)
        if (i != TC__KNOB_THREADS) CHANGES(s->tuning.knob[i], s->tuning.knob[i] + 1);
    s->tuning.knob[TC__KNOB_THREADS] =
        TC__THREADS_ONE; // the code of a kernel tuned so is found
    CHECK(!has_changed(c, g));
    s->tuning.knob[TC__KNOB_THREADS] = 0;
    for (size_t i = 0; i < sizeof s->windows / sizeof(int64_t); i++)
        CHANGES(((int64_t *)&s->windows)[i], 3 + (int64_t)i);
    CHANGES(g->target.tf32, !g->target.tf32);
    CHANGES(g->target.guarded, 1);
}

static void change_body(tc_ctx *c, tc__group *g, size_t k) {
    tc__ix other = tc__ix_sym(g->body.ix, 7, 0, 1000);
    for (size_t i = 0; i < g->buffer.count; i++) {
        tc__kbuf *b = &g->buffer.at[i];
        CHANGES(b->place, TC__BUF_WORK);
        CHANGES(b->dtype, b->dtype + 1);
        CHANGES(b->written, !b->written);
        CHANGES(b->in_turns, 1);
        CHANGES(b->numel, other);
        CHANGES(b->offset, other);
    }
    for (size_t i = 0; i < g->body.node.count; i++) {
        tc__node *n = g->body.node.at[i];
        CHANGES(n->op, n->op + 1);
        CHANGES(n->dtype, n->dtype + 1);
        CHANGES(n->level, n->level + 1);
        CHANGES(n->phase, n->phase + 1);
        for (uint32_t j = 0; j < n->n_in; j++) CHANGES(n->in[j], n->in[j] + 1);
        for (uint32_t j = 0; j < n->n_attr; j++)
            CHANGES(n->attr[j], tc__attr_is_ix(n, j) ? other : n->attr[j] + 1);
    }
}

// Equal for equal kernels of two contexts; and no number of a kernel can be another one with the same bytes.
TEST(kernels_are_told_apart_by_their_bytes) {
    const char *const text[] = {softmax, stencils};
    for (int i = 0; i < 2; i++) {
        kit t, again;
        kit_open(&t, text[i], 0, TC__FUSE), kit_open(&again, text[i], 0, TC__FUSE);
        tc_ctx *c = t.c;
        CHECK_EQ(t.s.kernel.count, again.s.kernel.count);
        for (size_t k = 0; k < t.s.kernel.count; k++) {
            tc__group *g = t.s.kernel.at[k];
            bytes_of(c, g, &before);
            CHECK(!has_changed(again.c, again.s.kernel.at[k]));
            change_shape(c, g, k), change_body(c, g, k);
        }
        kit_close(&t), kit_close(&again);
    }
}
