// CUDA kernels of every form, executed by the emulator: graphs as text, for several dtypes and sizes
// that divide into nothing, against references in double.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"
#include "tcompile_cuda.in.h"

#define TEST_NO_MAIN
#include "halves.h"
#include "harness.h"
#include "tools/cuda_fake_use.h"
#include "tools/nvrtc.h"

enum { MOST_INPUTS = 4, MOST_CASES = 96, MOST_NODES = 64, MOST_KERNELS = 4 };

typedef struct sizes {
    int64_t r, c;
} sizes;

typedef struct cell {
    const double *in[MOST_INPUTS];
    int64_t r, c;
    int dtype;
} cell;

// Element i of the result.
typedef double (*reference)(const cell *x, int64_t i);

// Text of a graph: @ stands for the dtype, R and C for the sizes.
typedef struct form {
    const char *graph;
    reference want;
    double tolerance; // relative, of f32; halves have that of their rounding
    double low, high; // of the inputs
} form;

// ---- memory

static double stored(int dtype, void *at, size_t i, double v) {
    switch (dtype) {
    case TC_F64: return ((double *)at)[i] = v;
    case TC_F32: return (double)(((float *)at)[i] = (float)v);
    case TC_I32: return (double)(((int32_t *)at)[i] = (int32_t)v);
    case TC_I64: return (double)(((int64_t *)at)[i] = (int64_t)v);
    case TC_I16: return (double)(((int16_t *)at)[i] = (int16_t)v);
    case TC_I8: return (double)(((int8_t *)at)[i] = (int8_t)v);
    case TC_U8: return (double)(((uint8_t *)at)[i] = (uint8_t)(v < 0 ? -v : v));
    case TC_BOOL: return (double)(((uint8_t *)at)[i] = v > 0);
    default: {
        half_format f = dtype == TC_F16 ? half_f16 : half_bf16;
        ((uint16_t *)at)[i] = half_nearest(f, v);
        return half_value(f, ((uint16_t *)at)[i]);
    }
    }
}

static double loaded(int dtype, const void *at, size_t i) {
    switch (dtype) {
    case TC_F64: return ((const double *)at)[i];
    case TC_F32: return (double)((const float *)at)[i];
    case TC_I32: return (double)((const int32_t *)at)[i];
    case TC_I64: return (double)((const int64_t *)at)[i];
    case TC_I16: return (double)((const int16_t *)at)[i];
    case TC_I8: return (double)((const int8_t *)at)[i];
    case TC_U8:
    case TC_BOOL: return (double)((const uint8_t *)at)[i];
    default:
        return half_value(dtype == TC_F16 ? half_f16 : half_bf16,
                          ((const uint16_t *)at)[i]);
    }
}

// In [low, high), another for each i and seed.
static double value_of(size_t i, size_t seed, double low, double high) {
    return low +
           (high - low) * (double)test_word((unsigned)i, (unsigned)seed) / 4294967296.0;
}

// ---- one case: a graph of one dtype and one pair of sizes

typedef struct job {
    const form *f;
    cell x;
    tc__ixpool ix;
    tc__graph from, to;
    tc__schedule s;
    tc__ids outputs;
    double *values[MOST_INPUTS];
    void *external[MOST_INPUTS], *node[MOST_NODES];
    size_t numel[MOST_INPUTS];
    int symbolic; // C is s0: 1 = of 32 bits, 2 = larger; ROWS_SYMBOLIC = R is
} job;

enum { ROWS_SYMBOLIC = 3, CLUSTER_BLOCKS = 8 };

static tc_ctx *context;
static tcu__runtime runtime;
static tcu__module module;
static const tc_allocator hook = {NULL, NULL};

// What a kernel must find 16 bytes beyond every buffer unchanged.
enum { GUARD = 16, GUARD_BYTE = 0x5a };

static void *memory_of(size_t bytes) {
    unsigned char *p =
        (unsigned char *)aligned_alloc(256, (bytes + GUARD + 255) / 256 * 256);
    if (!p) abort();
    memset(p, 0, bytes);
    memset(p + bytes, GUARD_BYTE, GUARD);
    return p;
}

static void check_guard(const void *p, size_t bytes) {
    const unsigned char *g = (const unsigned char *)p + bytes;
    for (int i = 0; i < GUARD; i++)
        CHECK(g[i] == GUARD_BYTE || FAIL("written beyond the end"));
}

static void text_of(const job *j, char *out, size_t room) {
    size_t n = 0;
    const char *dtype = tc__dtypes[j->x.dtype].name;
    if (j->symbolic)
        n = (size_t)snprintf(out, room, "size s0 in 1..%s\n",
                             j->symbolic > 1 ? "1000000000000" : "100000");
    for (const char *s = j->f->graph; *s && n < room - 40; s++) {
        if (*s == '@')
            n += (size_t)snprintf(out + n, room - n, "%s", dtype);
        else if (*s == 'R' && j->symbolic == ROWS_SYMBOLIC)
            n += (size_t)snprintf(out + n, room - n, "s0");
        else if (*s == 'R')
            n += (size_t)snprintf(out + n, room - n, "%lld", (long long)j->x.r);
        else if (*s == 'C' && j->symbolic && j->symbolic != ROWS_SYMBOLIC)
            n += (size_t)snprintf(out + n, room - n, "s0");
        else if (*s == 'C')
            n += (size_t)snprintf(out + n, room - n, "%lld", (long long)j->x.c);
        else
            out[n++] = *s;
    }
    out[n] = 0;
}

static tc__ixenv env_of(const job *j, int64_t *size) {
    tc__ixenv v;
    memset(&v, 0, sizeof v);
    *size = j->symbolic == ROWS_SYMBOLIC ? j->x.r : j->x.c;
    v.sym = size;
    return v;
}

static size_t numel_of(const job *j, const tc__node *n) {
    int64_t size;
    tc__ixenv v = env_of(j, &size);
    size_t numel = 1;
    for (int d = 0; d < n->rank; d++) numel *= (size_t)tc__ix_eval(&j->ix, n->dims[d], &v);
    return numel;
}

static int open_job(job *j) {
    char text[4000];
    text_of(j, text, sizeof text);
    tc__ix_open(&j->ix, context);
    tc__graph_open(&j->from, context, &j->ix), tc__graph_open(&j->to, context, &j->ix);
    if (!tc__read_graph(context, &j->from, text, &j->outputs) ||
        !tc__verify(context, &j->from, TC__TENSOR) ||
        !tc__passes_run(context, &j->from, &j->to, j->outputs.at, j->outputs.count, 0, 0))
        return FAIL("%s: %s", text, tc_error_text(context));
    uint8_t *output = (uint8_t *)calloc(j->to.node.count + 1, 1);
    for (size_t i = 0; i < j->outputs.count; i++) output[j->outputs.at[i]] = 1;
    int ok = tc__schedule_run(&j->s, context, &j->to, output, NULL, TC__FUSE_LOADS);
    free(output);
    for (size_t k = 0; ok && k < j->s.kernel.count; k++)
        j->s.kernel.at[k]->target.cluster = CLUSTER_BLOCKS;
    return ok || FAIL("%s", tc_error_text(context));
}

static void fill_inputs(job *j) {
    for (size_t i = 0; i < j->to.node.count; i++) {
        const tc__node *n = j->to.node.at[i];
        if (n->op != TC_OP_INPUT) continue;
        size_t k = (size_t)n->attr[0], numel = numel_of(j, n);
        j->numel[k] = numel * tc__dtypes[n->dtype].bytes;
        j->external[k] = memory_of(j->numel[k]);
        j->values[k] = (double *)calloc(numel + 1, sizeof(double));
        for (size_t e = 0; e < numel; e++)
            j->values[k][e] = stored(n->dtype, j->external[k], e,
                                     value_of(e, k + 7, j->f->low, j->f->high));
        j->x.in[k] = j->values[k];
    }
}

static void *buffer_of(job *j, const tc__kbuf *b) {
    if (b->place == TC__BUF_INPUT) return j->external[b->source];
    if (!j->node[b->source]) {
        const tc__node *n = j->to.node.at[b->source];
        j->node[b->source] = memory_of(numel_of(j, n) * tc__dtypes[n->dtype].bytes);
    }
    return j->node[b->source];
}

// ---- launches

typedef struct state {
    int64_t *flag;
    uint64_t seed, draw;
} state;

static int64_t flags[3];
static state state_of_all = {flags, 0x123456789abcdefull, 5};

typedef struct arguments {
    unsigned char at[1024];
    uint32_t offset[32];
    int count;
    size_t size;
} arguments;

static void add(arguments *a, const void *value, size_t size) {
    a->size = (a->size + 7) / 8 * 8;
    a->offset[a->count++] = (uint32_t)a->size;
    memcpy(a->at + a->size, value, size);
    a->size += size;
}

static int launch(const char *symbol, const tc__grid *grid, const tc__ixpool *ix,
                  const tc__ixenv *v, const arguments *a) {
    tcu__launch_shape s;
    tcu__kernel k;
    tcu__args t;
    memset(&s, 0, sizeof s);
    s.grid[0] = (unsigned)tc__ix_eval(ix, grid->blocks, v);
    s.block[0] = (unsigned)grid->threads;
    s.grid[1] = s.grid[2] = s.block[1] = s.block[2] = 1;
    s.shared = (unsigned)tc__ix_eval(ix, grid->shared, v);
    if (grid->cluster) s.cluster[0] = (unsigned)grid->cluster;
    if (grid->cluster) s.cluster[1] = s.cluster[2] = 1;
    t.at = (unsigned char *)(uintptr_t)a->at;
    t.offset = (uint32_t *)(uintptr_t)a->offset;
    t.count = a->count, t.size = a->size;
    tcu__device *d = &runtime.device;
    return (tcu__kernel_get(d, &module, symbol, &s, &k) &&
            tcu__launch(d, &k, &s, &t, d->compute) &&
            TCU__DO(d, symbol, cuStreamSynchronize, d->compute)) ||
           FAIL("%s: %s", symbol, d->trouble.text);
}

static void run_kernel(job *j, const tc__group *g, const char *symbol) {
    tc__grids grids;
    arguments a;
    int64_t size;
    tc__ixenv v = env_of(j, &size);
    memset(&a, 0, sizeof a);
    REQUIRE(tc__cuda_grids(context, g, &grids));
    int long_row = j->symbolic == ROWS_SYMBOLIC && j->x.dtype == TC_F32;
    CHECK(grids.at[0].cluster > 1 || !long_row);
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        if (b->place != TC__BUF_INPUT && b->place != TC__BUF_NODE) continue;
        void *p = buffer_of(j, b);
        add(&a, &p, sizeof p);
    }
    size_t bytes = (size_t)tc__ix_eval(&j->ix, grids.workspace, &v);
    size_t zeroed = (size_t)tc__ix_eval(&j->ix, grids.zeroed, &v);
    unsigned char *work = (unsigned char *)memory_of(bytes);
    memset(work + zeroed, 0xff, bytes - zeroed);
    if (bytes) add(&a, &work, sizeof work);
    int64_t words[2];
    state *at = &state_of_all;
    memcpy(&words[0], &at, sizeof at);
    words[1] = size;
    add(&a, words, sizeof words);
    for (int i = 0; i < grids.count; i++) {
        char name[80];
        snprintf(name, sizeof name, i ? "%s_%d" : "%s", symbol, i);
        CHECK(launch(name, &grids.at[i], &j->ix, &v, &a));
    }
    for (size_t i = 0; i < zeroed; i++) CHECK(work[i] == 0 || FAIL("a ticket is left"));
    check_guard(work, bytes);
    free(work);
}

// ---- comparison

static double tolerance_of(const job *j, int dtype) {
    if (!tc__is_float(dtype)) return 0;
    if (dtype == TC_F16) return 2e-3 + j->f->tolerance;
    if (dtype == TC_BF16) return 1.2e-2 + j->f->tolerance;
    return j->f->tolerance;
}

static void check_result(job *j) {
    const tc__node *n = j->to.node.at[j->outputs.at[0]];
    size_t numel = numel_of(j, n);
    double tolerance =
        tolerance_of(j, j->x.dtype == TC_BF16 || j->x.dtype == TC_F16
                            ? (tc__is_float(n->dtype) ? j->x.dtype : n->dtype)
                            : n->dtype);
    int bad = 0;
    REQUIRE(j->node[n->id] != NULL);
    check_guard(j->node[n->id], numel * tc__dtypes[n->dtype].bytes);
    for (size_t i = 0; i < numel && bad < 3; i++) {
        double want = j->f->want(&j->x, (int64_t)i),
               have = loaded(n->dtype, j->node[n->id], i);
        double size = fabs(want) > 1 ? fabs(want) : 1;
        if (fabs(have - want) <= tolerance * size) continue;
        bad++;
        FAIL("%s [%lld, %lld]%s, element %zu: %.9g, not %.9g", tc__dtypes[j->x.dtype].name,
             (long long)j->x.r, (long long)j->x.c, j->symbolic ? " symbolic" : "", i, have,
             want);
    }
    CHECK(!bad);
}

static void close_job(job *j) {
    for (int i = 0; i < MOST_INPUTS; i++) {
        if (j->external[i]) check_guard(j->external[i], j->numel[i]);
        free(j->external[i]), free(j->values[i]);
    }
    for (int i = 0; i < MOST_NODES; i++) free(j->node[i]);
    tc__schedule_close(&j->s);
    TC__VEC_FREE(context, j->outputs);
    tc__graph_close(&j->to), tc__graph_close(&j->from);
    tc__ix_close(&j->ix);
}

// ---- many cases in one program

typedef struct batch {
    job job[MOST_CASES];
    int count;
} batch;

static void add_job(batch *b, const form *f, int dtype, int64_t r, int64_t c,
                    int symbolic) {
    job *j = &b->job[b->count++];
    memset(j, 0, sizeof *j);
    j->f = f, j->x.dtype = dtype, j->x.r = r, j->x.c = c, j->symbolic = symbolic;
}

static int compile(const char *source) {
    static const char *const strict[] = {"-fmad=false"};
    tcu__device *d = &runtime.device;
    tcu__nvrtc nvrtc;
    tcu__arch arch;
    tcu__job job;
    memset(&nvrtc, 0, sizeof nvrtc);
    memset(&job, 0, sizeof job);
    job.name = "forms", job.source = source, job.options = strict, job.n_options = 1;
    int ok = tcu__nvrtc_open(&nvrtc, &d->trouble) &&
             tcu__arch_choose(&nvrtc, 9, 0, &arch, &d->trouble) &&
             tcu__compile(&nvrtc, &hook, &arch, &job, 1, 1, &d->trouble) &&
             tcu__module_load(d, &module, job.cubin, "forms");
    tcu__nvrtc_close(&nvrtc);
    tcu__job_free(&hook, &job);
    return ok || FAIL("%.3000s", d->trouble.text);
}

// The largest number of bytes that a kernel spills.
static long spilled(const char *log) {
    long most = 0;
    for (const char *s = strstr(log, " bytes spill stores"); s;
         s = strstr(s + 1, " bytes spill stores")) {
        const char *digit = s;
        while (digit > log && digit[-1] >= '0' && digit[-1] <= '9') digit--;
        if (strtol(digit, NULL, 10) > most) most = strtol(digit, NULL, 10);
    }
    return most;
}

enum {
    FEW_BYTES = 32
}; // ptxas keeps conditions of guards so, with registers left (40 of 64 used)

// The same text is CUDA: no warning, and no vector is spilled.
static void check_text(const char *source) {
    nvrtc_result r;
    if (nvrtc_open()) return;
    int ok = nvrtc_compile(source, strstr(source, "tc_cluster") ? "sm_90a" : "sm_80", &r);
    CHECK((ok && !strstr(r.log, "warning") && spilled(r.log) <= FEW_BYTES) ||
          FAIL("for NVRTC: %.3000s", r.log));
    nvrtc_free(&r);
}

static int print_all(batch *b, tc__text *t) {
    const tc__group *all[MOST_CASES * MOST_KERNELS];
    int count = 0;
    for (int i = 0; i < b->count; i++)
        for (size_t k = 0; k < b->job[i].s.kernel.count; k++)
            all[count++] = b->job[i].s.kernel.at[k];
    if (!tc__print_cuda_prelude(t, all, count)) return FAIL("%s", tc_error_text(context));
    for (int i = 0; i < b->count; i++) {
        for (size_t k = 0; k < b->job[i].s.kernel.count; k++) {
            char symbol[40];
            snprintf(symbol, sizeof symbol, "k%d_%u", i, (unsigned)k);
            if (!tc__print_kernel(t, b->job[i].s.kernel.at[k], &tc__dialect_cuda, symbol))
                return FAIL("%s", tc_error_text(context));
        }
    }
    if (test_option("--save")) {
        FILE *f = fopen("build/forms.cu", "wb");
        if (f) fputs(t->at, f), fclose(f);
    }
    return 1;
}

static void run_batch(batch *b) {
    tc_config config = tc_config_default();
    tc__text t;
    config.backend = "aot_eager", config.threads = 1;
    context = tc_open(&config);
    REQUIRE(context && use_emulator());
    REQUIRE(tcu__runtime_open(&runtime, &hook, 0) && tcu__enter(&runtime.device));
    tc__text_init(&t, context);
    for (int i = 0; i < b->count; i++) REQUIRE(open_job(&b->job[i]));
    REQUIRE(print_all(b, &t) && compile(t.at));
    check_text(t.at);
    for (int i = 0; i < b->count; i++) {
        job *j = &b->job[i];
        fill_inputs(j);
        for (size_t k = 0; k < j->s.kernel.count; k++) {
            char symbol[40];
            snprintf(symbol, sizeof symbol, "k%d_%u", i, (unsigned)k);
            run_kernel(j, j->s.kernel.at[k], symbol);
        }
        check_result(j);
        close_job(j);
    }
    tc__text_free(&t);
    tcu__module_unload(&runtime.device, &module);
    tcu__runtime_close(&runtime);
    tc_close(context);
}

static void run_form(const form *f, const int *dtype, int dtypes, const sizes *size,
                     int count, int symbolic) {
    static batch b;
    b.count = 0;
    for (int d = 0; d < dtypes; d++)
        for (int i = 0; i < count; i++) {
            add_job(&b, f, dtype[d], size[i].r, size[i].c, 0);
            if (symbolic && i % 2) add_job(&b, f, dtype[d], size[i].r, size[i].c, 1);
            if (symbolic && i % 3 == 2) add_job(&b, f, dtype[d], size[i].r, size[i].c, 2);
        }
    run_batch(&b);
}

#define RUN(f, dtypes, sizes, symbolic)                                                    \
    run_form(f, dtypes, (int)TC__COUNT(dtypes), sizes, (int)TC__COUNT(sizes), symbolic)

static const int floats[] = {TC_F32, TC_BF16, TC_F16, TC_F64}, singles[] = {TC_F32},
                 some[] = {TC_F32, TC_BF16};

// ---- flat

static double want_affine(const cell *x, int64_t i) {
    double v = x->in[0][i] * x->in[1][i % x->c] + x->in[2][0];
    return v > 0 ? v : 0;
}

static const form affine = {"%0 = input x0 @[R,C]\n"
                            "%1 = input x1 @[C]\n"
                            "%2 = input x2 @[1]\n"
                            "%3 = reshape %1 @[1,C]\n"
                            "%4 = expand %3 @[R,C]\n"
                            "%5 = reshape %2 @[1,1]\n"
                            "%6 = expand %5 @[R,C]\n"
                            "%7 = mul %0 %4 @[R,C]\n"
                            "%8 = add %7 %6 @[R,C]\n"
                            "%9 = relu %8 @[R,C]\n"
                            "return %9\n",
                            want_affine, 1e-6, -1, 1};

TEST(affine) {
    static const sizes at[] = {{1, 1},   {1, 7},    {3, 1},     {5, 768},
                               {17, 97}, {1, 4099}, {33, 1030}, {2, 8192}};
    RUN(&affine, floats, at, 1);
}

static double want_column(const cell *x, int64_t i) {
    return x->in[0][i] - x->in[1][i / x->c];
}

static const form column = {"%0 = input x0 @[R,C]\n"
                            "%1 = input x1 @[R]\n"
                            "%2 = reshape %1 @[R,1]\n"
                            "%3 = expand %2 @[R,C]\n"
                            "%4 = sub %0 %3 @[R,C]\n"
                            "return %4\n",
                            want_column, 1e-6, -8, 8};

TEST(column_operand) {
    static const sizes at[] = {{1, 1}, {7, 5}, {64, 100}, {31, 64}, {11, 1}};
    RUN(&column, floats, at, 1);
}

static double want_turned(const cell *x, int64_t i) {
    return x->in[0][i / x->c + x->r * (i % x->c)] + x->in[1][i];
}

static const form turned = {"%0 = input x0 @[C,R]\n"
                            "%1 = input x1 @[R,C]\n"
                            "%2 = permute %0 order=1,0 @[R,C]\n"
                            "%3 = add %2 %1 @[R,C]\n"
                            "return %3\n",
                            want_turned, 1e-6, -1, 1};

TEST(turned) {
    static const sizes at[] = {{40, 72}, {33, 65}, {64, 96}, {1, 50}, {100, 31}};
    RUN(&turned, floats, at, 0);
}

TEST(turned_in_large_tiles) {
    static const sizes vectors[] = {{1028, 1024}}, elements[] = {{1025, 1027}};
    static const int halves[] = {TC_BF16};
    RUN(&turned, halves, vectors, 0);
    RUN(&turned, singles, vectors, 0);
    RUN(&turned, singles, elements, 0);
}

// ---- rows

static double want_softmax(const cell *x, int64_t i) {
    const double *row = x->in[0] + i / x->c * x->c;
    double most = row[0], sum = 0;
    static const double *of;
    static int64_t at;
    static double kept[2];
    if (i % x->c == 0 || of != row ||
        at != i / x->c) { // memory may be that of an earlier case
        for (int64_t c = 0; c < x->c; c++) most = row[c] > most ? row[c] : most;
        for (int64_t c = 0; c < x->c; c++) sum += exp(row[c] - most);
        of = row, at = i / x->c, kept[0] = most, kept[1] = sum;
    }
    return exp(x->in[0][i] - kept[0]) / kept[1];
}

static const form softmax = {"%0 = input x0 @[R,C]\n"
                             "%1 = cast %0 f32[R,C]\n"
                             "%2 = amax %1 dims=2 f32[R,1]\n"
                             "%3 = expand %2 f32[R,C]\n"
                             "%4 = sub %1 %3 f32[R,C]\n"
                             "%5 = exp %4 f32[R,C]\n"
                             "%6 = sum %5 dims=2 f32[R,1]\n"
                             "%7 = expand %6 f32[R,C]\n"
                             "%8 = div %5 %7 f32[R,C]\n"
                             "%9 = cast %8 @[R,C]\n"
                             "return %9\n",
                             want_softmax, 1e-6, -4, 4};

TEST(softmax) {
    static const sizes at[] = {{1, 1},   {300, 1}, {300, 8},  {299, 24}, {7, 100},
                               {5, 768}, {3, 769}, {270, 33}, {4, 4096}, {3, 6000}};
    RUN(&softmax, some, at, 1);
}

// In shared memory.
TEST(softmax_long) {
    static const sizes at[] = {{2, 24000}, {3, 12345}};
    RUN(&softmax, some, at, 0);
}

// Cut into parts, a launch for each phase.
TEST(softmax_cut) {
    static const sizes at[] = {{1, 90000}, {2, 80001}};
    RUN(&softmax, some, at, 0);
}

// Held by the blocks of a cluster, where it is not known how few the rows are.
static void run_in_clusters(const form *f, const int *dtype, int dtypes, const sizes *size,
                            int count) {
    static batch b;
    b.count = 0;
    for (int d = 0; d < dtypes; d++)
        for (int i = 0; i < count; i++)
            add_job(&b, f, dtype[d], size[i].r, size[i].c, ROWS_SYMBOLIC);
    run_batch(&b);
}

#define RUN_IN_CLUSTERS(f, dtypes, sizes)                                                  \
    run_in_clusters(f, dtypes, (int)TC__COUNT(dtypes), sizes, (int)TC__COUNT(sizes))

TEST(softmax_in_clusters) {
    static const sizes at[] = {{3, 70000}, {2, 204801}, {1, 130002}};
    RUN_IN_CLUSTERS(&softmax, some, at);
}

static double want_norm(const cell *x, int64_t i) {
    const double *row = x->in[0] + i / x->c * x->c;
    static const double *of;
    static double mean, spread;
    if (of != row) {
        mean = spread = 0;
        for (int64_t c = 0; c < x->c; c++) mean += row[c] / (double)x->c;
        for (int64_t c = 0; c < x->c; c++)
            spread += (row[c] - mean) * (row[c] - mean) / (double)x->c;
        of = row;
    }
    return (row[i % x->c] - mean) / sqrt(spread + 0.5) * x->in[1][i % x->c];
}

static const form norm = {"%0 = input x0 @[R,C]\n"
                          "%1 = cast %0 f32[R,C]\n"
                          "%2 = const C f32[]\n"
                          "%3 = reshape %2 f32[1,1]\n"
                          "%4 = expand %3 f32[R,1]\n"
                          "%5 = sum %1 dims=2 f32[R,1]\n"
                          "%6 = div %5 %4 f32[R,1]\n"
                          "%7 = expand %6 f32[R,C]\n"
                          "%8 = sub %1 %7 f32[R,C]\n"
                          "%9 = square %8 f32[R,C]\n"
                          "%10 = sum %9 dims=2 f32[R,1]\n"
                          "%11 = div %10 %4 f32[R,1]\n"
                          "%12 = const 0.5 f32[]\n"
                          "%13 = reshape %12 f32[1,1]\n"
                          "%14 = expand %13 f32[R,1]\n"
                          "%15 = add %11 %14 f32[R,1]\n"
                          "%16 = rsqrt %15 f32[R,1]\n"
                          "%17 = expand %16 f32[R,C]\n"
                          "%18 = mul %8 %17 f32[R,C]\n"
                          "%19 = input x1 f32[C]\n"
                          "%20 = reshape %19 f32[1,C]\n"
                          "%21 = expand %20 f32[R,C]\n"
                          "%22 = mul %18 %21 f32[R,C]\n"
                          "%23 = cast %22 @[R,C]\n"
                          "return %23\n",
                          want_norm, 3e-6, -4, 4};

TEST(layer_norm_in_clusters) {
    static const sizes at[] = {{3, 70000}, {2, 120001}};
    RUN_IN_CLUSTERS(&norm, some, at);
}

// How far a column is from the place of the largest: a place counts in the row, not in a part of it.
static double want_distance(const cell *x, int64_t i) {
    const double *row = x->in[0] + i / x->c * x->c;
    static const double *of;
    static int64_t most;
    if (of != row) {
        most = 0, of = row;
        for (int64_t c = 0; c < x->c; c++)
            if (row[c] > row[most]) most = c;
    }
    return (double)most + row[i % x->c];
}

static const form distance = {"%0 = input x0 @[R,C]\n"
                              "%1 = argmax %0 dims=2 i64[R,1]\n"
                              "%2 = cast %1 @[R,1]\n"
                              "%3 = expand %2 @[R,C]\n"
                              "%4 = add %3 %0 @[R,C]\n"
                              "return %4\n",
                              want_distance, 1e-6, -4, 4};

TEST(places_in_clusters) {
    static const sizes at[] = {{4, 60000}};
    RUN_IN_CLUSTERS(&distance, singles, at);
}

static double want_sum(const cell *x, int64_t i) {
    double sum = 0;
    for (int64_t c = 0; c < x->c; c++) sum += x->in[0][i * x->c + c];
    return sum;
}

static const form row_sum = {"%0 = input x0 @[R,C]\n"
                             "%1 = sum %0 dims=2 @[R,1]\n"
                             "return %1\n",
                             want_sum, 2e-5, -1, 1};

static const int sums[] = {TC_F32, TC_F64, TC_I32, TC_I64};

TEST(row_sums) {
    static const sizes at[] = {{1, 1},    {500, 3},    {300, 40},  {9, 1000},
                               {2, 5001}, {1, 100003}, {3, 65536}, {270, 2050}};
    RUN(&row_sum, sums, at, 1);
}

static double want_centred(const cell *x, int64_t i) {
    const double *row = x->in[0] + i * x->c;
    double sum = want_sum(x, i), all = 0;
    for (int64_t c = 0; c < x->c; c++) all += (row[c] - sum) * (row[c] - sum);
    return all;
}

// Two reductions, the second over what the first gave, and only rows are stored.
static const form centred = {"%0 = input x0 @[R,C]\n"
                             "%1 = sum %0 dims=2 @[R,1]\n"
                             "%2 = expand %1 @[R,C]\n"
                             "%3 = sub %0 %2 @[R,C]\n"
                             "%4 = mul %3 %3 @[R,C]\n"
                             "%5 = sum %4 dims=2 @[R,1]\n"
                             "return %5\n",
                             want_centred, 1e-4, -0.01, 0.01};

static const int exact[] = {TC_F64}, f32_f64[] = {TC_F32, TC_F64};

TEST(two_sums) {
    static const sizes at[] = {{1, 2}, {30, 200}, {5, 3000}, {2, 30000}};
    RUN(&centred, f32_f64, at, 1);
}

TEST(two_sums_cut) {
    static const sizes at[] = {{1, 300000}};
    RUN(&centred, exact, at, 0);
}

static double want_argmax(const cell *x, int64_t i) {
    int64_t best = 0;
    for (int64_t c = 1; c < x->c; c++)
        if (x->in[0][i * x->c + c] > x->in[0][i * x->c + best]) best = c;
    return (double)best;
}

static const form row_argmax = {"%0 = input x0 @[R,C]\n"
                                "%1 = argmax %0 dims=2 i64[R,1]\n"
                                "return %1\n",
                                want_argmax, 0, -100, 100};

static const int orders[] = {TC_F32, TC_BF16, TC_I32, TC_F64, TC_I8};

TEST(row_argmax) {
    static const sizes at[] = {{1, 1}, {300, 12}, {40, 333}, {3, 4099}, {1, 50001}};
    RUN(&row_argmax, orders, at, 1);
}

static double want_any(const cell *x, int64_t i) {
    int any = 0;
    for (int64_t c = 0; c < x->c; c++) any |= x->in[0][i * x->c + c] != 0;
    return any;
}

static const form row_any = {"%0 = input x0 bool[R,C]\n"
                             "%1 = any %0 dims=2 bool[R,1]\n"
                             "return %1\n",
                             want_any, 0, -100, 0.5};

TEST(row_any) {
    static const int one[] = {TC_BOOL};
    static const sizes at[] = {{1, 1}, {300, 12}, {40, 333}, {1, 50001}};
    RUN(&row_any, one, at, 1);
}

// ---- columns

static double want_column_sum(const cell *x, int64_t i) {
    double sum = 0;
    for (int64_t r = 0; r < x->r; r++) sum += x->in[0][r * x->c + i];
    return sum;
}

static const form column_sum = {"%0 = input x0 @[R,C]\n"
                                "%1 = sum %0 dims=1 @[1,C]\n"
                                "return %1\n",
                                want_column_sum, 2e-5, -1, 1};

TEST(column_sums) {
    static const sizes at[] = {{3, 100}, {40, 64}, {100, 33}, {1000, 256}, {5000, 40}};
    RUN(&column_sum, sums, at, 1);
}

static const form column_sum_half = {"%0 = input x0 @[R,C]\n"
                                     "%1 = cast %0 f32[R,C]\n"
                                     "%2 = sum %1 dims=1 f32[1,C]\n"
                                     "return %2\n",
                                     want_column_sum, 2e-5, -1, 1};

TEST(column_sums_half) {
    static const int halves[] = {TC_F16, TC_BF16, TC_I8};
    static const sizes at[] = {{3, 100}, {40, 64}, {1000, 256}, {5000, 40}};
    RUN(&column_sum_half, halves, at, 0);
}

static double want_column_argmax(const cell *x, int64_t i) {
    int64_t best = 0;
    for (int64_t r = 1; r < x->r; r++)
        if (x->in[0][r * x->c + i] > x->in[0][best * x->c + i]) best = r;
    return (double)best;
}

static const form column_argmax = {"%0 = input x0 @[R,C]\n"
                                   "%1 = argmax %0 dims=1 i64[1,C]\n"
                                   "return %1\n",
                                   want_column_argmax, 0, -100, 100};

TEST(column_argmax) {
    static const sizes at[] = {{3, 100}, {40, 64}, {100, 33}, {2000, 256}};
    RUN(&column_argmax, orders, at, 0);
}

static double want_column_softmax(const cell *x, int64_t i) {
    double sum = 0;
    for (int64_t r = 0; r < x->r; r++) sum += exp(x->in[0][r * x->c + i % x->c]);
    return exp(x->in[0][i]) / sum;
}

static const form column_softmax = {"%0 = input x0 f32[R,C]\n"
                                    "%2 = amax %0 dims=1 f32[1,C]\n"
                                    "%3 = expand %2 f32[R,C]\n"
                                    "%4 = sub %0 %3 f32[R,C]\n"
                                    "%5 = exp %4 f32[R,C]\n"
                                    "%6 = sum %5 dims=1 f32[1,C]\n"
                                    "%7 = expand %6 f32[R,C]\n"
                                    "%8 = div %5 %7 f32[R,C]\n"
                                    "return %8\n",
                                    want_column_softmax, 1e-6, -4, 4};

TEST(column_softmax) {
    static const sizes at[] = {{3, 100}, {40, 64}, {100, 33}, {300, 256}};
    RUN(&column_softmax, singles, at, 1);
}

// ---- functions with a text of their own

static double of_sin(double x) { return sin(x); }
static double of_cos(double x) { return cos(x); }
static double of_tanh(double x) { return tanh(x); }
static double of_exp(double x) { return exp(x); }
static double of_log(double x) { return log(x); }
static double of_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double of_silu(double x) { return x / (1 + exp(-x)); }
static double of_gelu(double x) {
    return x * 0.5 * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}
static double of_rsqrt(double x) { return 1 / sqrt(x); }

#define WANT(f)                                                                            \
    static double want_##f(const cell *x, int64_t i) { return of_##f(x->in[0][i]); }
WANT(sin)
WANT(cos)
WANT(tanh)
WANT(exp)
WANT(log)
WANT(sigmoid)
WANT(silu)
WANT(gelu)
WANT(rsqrt)

#define UNARY(op)                                                                          \
    "%0 = input x0 @[R,C]\n"                                                               \
    "%1 = " op " %0 @[R,C]\n"                                                              \
    "return %1\n"

TEST(functions) {
    static const form all[] = {{UNARY("sin"), want_sin, 3e-7, -20, 20},
                               {UNARY("sin"), want_sin, 3e-7, -1e9, 1e9},
                               {UNARY("cos"), want_cos, 3e-7, -20, 20},
                               {UNARY("cos"), want_cos, 3e-7, -1e9, 1e9},
                               {UNARY("tanh"), want_tanh, 3e-7, -8, 8},
                               {UNARY("tanh"), want_tanh, 3e-7, -0.1, 0.1},
                               {UNARY("exp"), want_exp, 3e-7, -10, 8},
                               {UNARY("log"), want_log, 3e-7, 0.01, 20},
                               {UNARY("log"), want_log, 3e-7, 0.99, 1.01},
                               {UNARY("sigmoid"), want_sigmoid, 3e-7, -20, 20},
                               {UNARY("silu"), want_silu, 3e-7, -20, 20},
                               {UNARY("gelu_tanh"), want_gelu, 3e-7, -4, 4},
                               {UNARY("rsqrt"), want_rsqrt, 3e-7, 0.1, 8}};
    static const int three[] = {TC_F32, TC_BF16, TC_F16};
    static batch b;
    b.count = 0;
    for (size_t i = 0; i < TC__COUNT(all); i++)
        for (int d = 0; d < 3; d++)
            if (three[d] != TC_F16 || all[i].high < 60000)
                add_job(&b, &all[i], three[d], 1, 3000, 0);
    run_batch(&b);
}

// ---- random numbers: Philox4x32-10 as its authors wrote it

static void philox(uint32_t w[4], uint32_t k0, uint32_t k1) {
    for (int n = 0; n < 10; n++) {
        uint64_t a = (uint64_t)w[0] * 0xd2511f53u, c = (uint64_t)w[2] * 0xcd9e8d57u;
        uint32_t x[4] = {(uint32_t)(c >> 32) ^ w[1] ^ k0, (uint32_t)c,
                         (uint32_t)(a >> 32) ^ w[3] ^ k1, (uint32_t)a};
        memcpy(w, x, sizeof x);
        k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
    }
}

static double want_uniform(const cell *x, int64_t i) {
    uint64_t draw = state_of_all.draw + 3, seed = state_of_all.seed;
    uint32_t w[4] = {(uint32_t)(i / 4), 0, (uint32_t)draw, (uint32_t)(draw >> 32)};
    philox(w, (uint32_t)seed, (uint32_t)(seed >> 32));
    return (w[i % 4] >> 8) / 16777216.0 + x->in[0][i];
}

static const form uniform = {"%0 = input x0 f32[R,C]\n"
                             "%1 = random kind=0 draw=3 f32[R,C]\n"
                             "%2 = add %1 %0 f32[R,C]\n"
                             "return %2\n",
                             want_uniform, 1e-7, -1, 1};

TEST(random_numbers) {
    static const sizes at[] = {{1, 1}, {7, 100}, {64, 256}};
    RUN(&uniform, singles, at, 1);
}

// ---- rows that are gathered: the index is the same for a whole vector

static double want_gathered(const cell *x, int64_t i) {
    int64_t k = (int64_t)x->in[1][i / x->c];
    return x->in[0][k * x->c + i % x->c] * 2;
}

static const form gathered = {"%0 = input x0 @[50,C]\n"
                              "%1 = input x1 i32[R]\n"
                              "%2 = take %0 %1 dim=0 @[R,C]\n"
                              "%3 = add %2 %2 @[R,C]\n"
                              "return %3\n",
                              want_gathered, 1e-6, 0, 50};

TEST(gathered) {
    static const sizes at[] = {{1, 1}, {40, 96}, {33, 7}, {20, 256}};
    RUN(&gathered, some, at, 1);
}
