// Products in CUDA: every form of device/product.c, with rests in all sizes, batches,
// operands in either order, casts and epilogues. Graphs become kernels, the emulator runs
// them, and results are compared with sums in double. NVRTC, where it is, compiles the same.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"

#include "tcompile_cuda.in.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_fake_use.h"
#include "tools/nvrtc.h"

#include <math.h>

enum {
    TURNED_LEFT = 1,
    TURNED_RIGHT = 2,
    ONE_LEFT = 4,
    ONE_RIGHT = 8,
    GELU = 16,
    SUM = 32,
    TF32 = 64,
    CUT = 128,                    // in slices of k
    CUT_2 = 256,                  // in so many that they meet in two rounds
    OFFSET = 512,                 // a scaled operand has its 0 at 8
    WIDE = 1024,                  // of halves, in f32
    BACK = 2048,                  // operands are halves that were widened and rounded again
    MATRIX = 4096,                // by matrix units that read shared memory,
    MAPPED = 8192 + MATRIX,       //   where the device brings operands by itself,
    HELD = 16384 + MAPPED + TF32, //   or the left one of f32
    PAIRS = 32768 + MAPPED,       //   and pairs of blocks have the right one together
    RELAY = 65536 + MAPPED,       //   and other warps finish results
    LINEAR = 131072 + GELU // the product and its bias are f32, and their sum is rounded
};
enum {
    TILES = TC__PRODUCT_TILES,
    FEW = TC__PRODUCT_FEW,
    BOTH = TURNED_LEFT | TURNED_RIGHT
};
enum { MOST = 24, BUFFERS = 8, STAYING = 2 };

// left[batch, m, k] times right[batch, k, n]. TURNED: stored with its last two dimensions
// exchanged; ONE: of one batch, for all. GELU: of the product and a bias; SUM: what gelu is
// of is a result, too. TF32: operands may be rounded to that. With a `scale` only the right operand is of
// dtype `from`: of integers, times a number of that dtype for each column, or for each `group` rows of one.
typedef struct product {
    int dtype, from; // of the product, of the operands in memory
    int batch, m, n, k, flags;
    tc__product_form form;
    int symbolic; // m, n, k are s0, s1, s2
    int scale, group;
    int tile; // 0 = chosen; of the table of its kind, the first is 1
} product;

static int result_dtype(const product *q) {
    return q->flags & WIDE ? (int)TC_F32 : q->dtype;
}

// ---- graphs

static void put_shape(tc__text *t, const product *q, int dtype, int one, const char *rows,
                      const char *cols, int turned) {
    tc__put(t, " %s[%d,%s,%s]\n", tc__dtypes[dtype].name, one ? 1 : q->batch,
            turned ? cols : rows, turned ? rows : cols);
}

// Node `node` in f32 and back, with a reshape between: no pass takes these casts for one. Gives its number.
static int put_detour(tc__text *t, const product *q, int node, int batch, const char *rows,
                      const char *cols) {
    const char *half = tc__dtypes[q->dtype].name;
    tc__put(t, "%%%d = cast %%%d f32[%d,%s,%s]\n", node + 1, node, batch, rows, cols);
    tc__put(t, "%%%d = reshape %%%d f32[%d,1,%s,%s]\n", node + 2, node + 1, batch, rows,
            cols);
    tc__put(t, "%%%d = cast %%%d %s[%d,1,%s,%s]\n", node + 3, node + 2, half, batch, rows,
            cols);
    tc__put(t, "%%%d = reshape %%%d %s[%d,%s,%s]\n", node + 4, node + 3, half, batch, rows,
            cols);
    return node + 4;
}

// An operand from `input` on: cast, turned and repeated. Gives its number.
static int put_operand(tc__text *t, const product *q, int node, int input, int turned,
                       int one, const char *rows, const char *cols) {
    int from = q->scale ? q->dtype : q->from;
    tc__put(t, "%%%d = input x%d", node, input);
    put_shape(t, q, from, one, rows, cols, turned);
    if (from != q->dtype) {
        tc__put(t, "%%%d = cast %%%d", node + 1, node);
        put_shape(t, q, q->dtype, one, rows, cols, turned);
        node++;
    }
    if (q->flags & BACK)
        node = put_detour(t, q, node, one ? 1 : q->batch, turned ? cols : rows,
                          turned ? rows : cols);
    if (turned) {
        tc__put(t, "%%%d = permute %%%d order=0,2,1", node + 1, node);
        put_shape(t, q, q->dtype, one, rows, cols, 0);
        node++;
    }
    if (!one) return node;
    tc__put(t, "%%%d = expand %%%d", node + 1, node);
    put_shape(t, q, q->dtype, 0, rows, cols, 0);
    return node + 1;
}

static void put_groups(tc__text *t, const product *q, int dtype, int each) {
    int turned = q->flags & TURNED_RIGHT, groups = q->k / q->group;
    tc__put(t, turned ? " %s[%d,%d,%d]\n" : " %s[%d,%d,%d]\n", tc__dtypes[dtype].name,
            turned ? q->n : groups, turned ? groups : each, turned ? each : q->n);
}

// A shape in the right operand: of all, of numbers of a group, or of scales.
static void put_part(tc__text *t, const product *q, int dtype, int scales) {
    int turned = q->flags & TURNED_RIGHT, one = scales || q->flags & ONE_RIGHT;
    int k = scales ? 1 : q->k;
    if (q->group) {
        put_groups(t, q, dtype, scales ? 1 : q->group);
        return;
    }
    tc__put(t, " %s[%d,%d,%d]\n", tc__dtypes[dtype].name, one ? 1 : q->batch,
            turned ? q->n : k, turned ? k : q->n);
}

// The right operand: integers x1 times x3. Gives its number.
static int put_scaled(tc__text *t, const product *q, int node) {
    int turned = q->flags & TURNED_RIGHT;
    tc__put(t, "%%%d = input x1", node), put_part(t, q, q->from, 0);
    tc__put(t, "%%%d = cast %%%d", node + 1, node), put_part(t, q, q->scale, 0);
    node++;
    if (q->flags & OFFSET) {
        tc__put(t, "%%%d = const 8 %s[]\n", node + 1, tc__dtypes[q->scale].name);
        tc__put(t, "%%%d = reshape %%%d %s[1,1,1]\n", node + 2, node + 1,
                tc__dtypes[q->scale].name);
        tc__put(t, "%%%d = expand %%%d", node + 3, node + 2), put_part(t, q, q->scale, 0);
        tc__put(t, "%%%d = sub %%%d %%%d", node + 4, node, node + 3);
        put_part(t, q, q->scale, 0);
        node += 4;
    }
    tc__put(t, "%%%d = input x3", node + 1), put_part(t, q, q->scale, 1);
    tc__put(t, "%%%d = expand %%%d", node + 2, node + 1), put_part(t, q, q->scale, 0);
    tc__put(t, "%%%d = mul %%%d %%%d", node + 3, node, node + 2);
    put_part(t, q, q->scale, 0);
    node += 3;
    if (q->scale != q->dtype) {
        tc__put(t, "%%%d = cast %%%d", node + 1, node), put_part(t, q, q->dtype, 0);
        node++;
    }
    if (q->group) {
        tc__put(t, "%%%d = reshape %%%d %s[1,%d,%d]\n", node + 1, node,
                tc__dtypes[q->dtype].name, turned ? q->n : q->k, turned ? q->k : q->n);
        node++;
    }
    if (turned) {
        int b = q->flags & ONE_RIGHT ? 1 : q->batch;
        tc__put(t, "%%%d = permute %%%d order=0,2,1 %s[%d,%d,%d]\n", node + 1, node,
                tc__dtypes[q->dtype].name, b, q->k, q->n);
        node++;
    }
    if (!(q->flags & ONE_RIGHT)) return node;
    tc__put(t, "%%%d = expand %%%d %s[%d,%d,%d]\n", node + 1, node,
            tc__dtypes[q->dtype].name, q->batch, q->k, q->n);
    return node + 1;
}

static void size_name(char out[16], const product *q, int value, int slot) {
    snprintf(out, 16, q->symbolic ? "s%d" : "%d", q->symbolic ? slot : value);
}

static void put_linear(tc__text *t, const product *q, int at, int left, int right,
                       const char *m, const char *n) {
    tc__put(t, "%%%d = matmul %%%d %%%d", at, left, right);
    put_shape(t, q, TC_F32, 0, m, n, 0);
    tc__put(t, "%%%d = input x2 %s[1,1,%s]\n", at + 1, tc__dtypes[q->dtype].name, n);
    tc__put(t, "%%%d = cast %%%d f32[1,1,%s]\n", at + 2, at + 1, n);
    tc__put(t, "%%%d = expand %%%d", at + 3, at + 2);
    put_shape(t, q, TC_F32, 0, m, n, 0);
    tc__put(t, "%%%d = add %%%d %%%d", at + 4, at, at + 3);
    put_shape(t, q, TC_F32, 0, m, n, 0);
    tc__put(t, "%%%d = cast %%%d", at + 5, at + 4);
    put_shape(t, q, q->dtype, 0, m, n, 0);
    tc__put(t, "%%%d = gelu %%%d", at + 6, at + 5);
    put_shape(t, q, q->dtype, 0, m, n, 0);
    tc__put(t, "return %%%d", at + 6);
    if (q->flags & SUM) tc__put(t, " %%%d", at + 5);
    tc__put(t, "\n");
}

static void put_graph(tc__text *t, const product *q) {
    char m[16], n[16], k[16];
    size_name(m, q, q->m, 0), size_name(n, q, q->n, 1), size_name(k, q, q->k, 2);
    for (int i = 0; i < 3 && q->symbolic; i++) tc__put(t, "size s%d in 1..100000\n", i);
    int left = put_operand(t, q, 0, 0, q->flags & TURNED_LEFT, q->flags & ONE_LEFT, m, k);
    int right = q->scale ? put_scaled(t, q, left + 1)
                         : put_operand(t, q, left + 1, 1, q->flags & TURNED_RIGHT,
                                       q->flags & ONE_RIGHT, k, n);
    int at = right + 1, sum = at;
    if ((q->flags & LINEAR) == LINEAR) {
        put_linear(t, q, at, left, right, m, n);
        return;
    }
    tc__put(t, "%%%d = matmul %%%d %%%d", at, left, right);
    put_shape(t, q, result_dtype(q), 0, m, n, 0);
    if (q->flags & GELU) {
        const char *type = tc__dtypes[result_dtype(q)].name;
        tc__put(t, "%%%d = input x2 %s[1,1,%s]\n", at + 1, type, n);
        tc__put(t, "%%%d = expand %%%d", at + 2, at + 1);
        put_shape(t, q, result_dtype(q), 0, m, n, 0);
        tc__put(t, "%%%d = add %%%d %%%d", at + 3, at, at + 2);
        put_shape(t, q, result_dtype(q), 0, m, n, 0);
        tc__put(t, "%%%d = gelu %%%d", at + 4, at + 3);
        put_shape(t, q, result_dtype(q), 0, m, n, 0);
        sum = at + 3, at += 4;
    }
    tc__put(t, "return %%%d", at);
    if (q->flags & SUM) tc__put(t, " %%%d", sum);
    tc__put(t, "\n");
}

// ---- kernels of graphs

typedef struct made {
    tc__ixpool ix;
    tc__graph from, to;
    tc__ids outputs;
    tc__schedule s;
    const tc__group *group;
} made;

static void make(tc_ctx *c, made *k, const product *q) {
    tc__text t;
    memset(k, 0, sizeof *k);
    tc__text_init(&t, c);
    put_graph(&t, q);
    tc__ix_open(&k->ix, c);
    tc__graph_open(&k->from, c, &k->ix), tc__graph_open(&k->to, c, &k->ix);
    REQUIRE(tc__read_graph(c, &k->from, t.at, &k->outputs) ||
            FAIL("%s\n%s", tc_error_text(c), t.at));
    REQUIRE(tc__passes_run(c, &k->from, &k->to, k->outputs.at, k->outputs.count, 0, 0));
    uint8_t *output = TC__NEW_ARRAY(c, uint8_t, k->to.node.count + 1);
    for (size_t i = 0; i < k->outputs.count; i++) output[k->outputs.at[i]] = 1;
    REQUIRE(tc__schedule_run(&k->s, c, &k->to, output, NULL, TC__FUSE_LOADS));
    REQUIRE(k->s.kernel.count == 1);
    k->group = k->s.kernel.at[0];
    k->s.kernel.at[0]->target.tf32 = (q->flags & TF32) != 0;
    k->s.kernel.at[0]->target.matrix_warps = q->flags & MATRIX ? 4 : 0;
    k->s.kernel.at[0]->target.tensor_maps = (q->flags & MAPPED) == MAPPED;
    k->s.kernel.at[0]->target.cluster = (q->flags & PAIRS) == PAIRS ? 8 : 0;
    k->s.kernel.at[0]->shape.tuning.knob[TC__KNOB_PRODUCT_TILE] = (uint8_t)q->tile;
    if ((q->flags & RELAY) == RELAY)
        k->s.kernel.at[0]->shape.tuning.knob[TC__KNOB_RELAY] = TC__RELAY_ON;
    tc__product plan = tc__product_plan(k->group);
    CHECK_EQ(plan.form, q->form);
    if ((q->flags & MAPPED) == MAPPED)
        CHECK_EQ(plan.tile->way, (q->flags & HELD) == HELD ? TC__WAY_HELD : TC__WAY_MAPPED);
    CHECK_EQ(plan.cluster, (q->flags & PAIRS) == PAIRS ? 2 : 1);
    CHECK_EQ(plan.relay != 0, (q->flags & RELAY) == RELAY);
    CHECK_EQ(plan.slices > 1, (q->flags & (CUT | CUT_2)) != 0);
    CHECK_EQ(plan.slices > TC__SLICE_GROUP, (q->flags & CUT_2) != 0);
    if (q->flags & BACK) {
        CHECK_EQ(k->group->body.node.at[tc__left_of(k->group)]->op, TC_OP_LOAD);
        CHECK_EQ(k->group->body.node.at[tc__right_of(k->group)]->op, TC_OP_LOAD);
    }
    if (q->flags & BACK && q->form == TILES && q->k % 8 == 0) {
        CHECK_EQ(plan.left.bring, TC__BRING_ASYNC);
        CHECK_EQ(plan.right.bring, TC__BRING_ASYNC);
    }
    tc__free(c, output, k->to.node.count + 1);
    tc__text_free(&t);
}

static void unmake(tc_ctx *c, made *k) {
    tc__schedule_close(&k->s);
    TC__VEC_FREE(c, k->outputs);
    tc__graph_close(&k->to), tc__graph_close(&k->from);
    tc__ix_close(&k->ix);
}

static void print_all(tc_ctx *c, tc__text *t, const made *k, int count) {
    const tc__group *groups[MOST];
    char symbol[32];
    for (int i = 0; i < count; i++) groups[i] = k[i].group;
    CHECK(tc__print_cuda_prelude(t, groups, count));
    for (int i = 0; i < count; i++) {
        snprintf(symbol, sizeof symbol, "kernel%d", i);
        CHECK(tc__print_kernel(t, groups[i], &tc__dialect_cuda, symbol) ||
              FAIL("%s", tc_error_text(c)));
    }
    CHECK_STR(tc_error_text(c), "");
}

// ---- running: as the runtime compiles, loads and launches

typedef struct machine {
    tcu__runtime runtime;
    tcu__module module;
    tcu__address memory[MOST * BUFFERS];
    int memories;
} machine;

static const tc_allocator hook = {NULL, NULL};

static int machine_open(machine *m, const char *source) {
    static const char *const strict[] = {"-fmad=false"};
    tcu__device *d = &m->runtime.device;
    tcu__nvrtc nvrtc;
    tcu__arch arch;
    tcu__job job;
    memset(m, 0, sizeof *m);
    memset(&nvrtc, 0, sizeof nvrtc);
    memset(&job, 0, sizeof job);
    if (!use_emulator()) return 0;
    job.name = "products.cu", job.source = source;
    job.options = strict, job.n_options = 1;
    int ok = tcu__runtime_open(&m->runtime, &hook, 0) && tcu__enter(d) &&
             tcu__nvrtc_open(&nvrtc, &d->trouble) &&
             tcu__arch_choose(&nvrtc, 9, 0, &arch, &d->trouble) &&
             tcu__compile(&nvrtc, &hook, &arch, &job, 1, 1, &d->trouble) &&
             tcu__module_load(d, &m->module, job.cubin, job.name);
    tcu__job_free(&hook, &job);
    tcu__nvrtc_close(&nvrtc);
    return ok || FAIL("%s", d->trouble.text);
}

static void machine_close(machine *m) {
    const tcu__driver_calls *call = &m->runtime.device.driver.call;
    tcu__module_unload(&m->runtime.device, &m->module);
    while (m->memories > 0) CHECK_EQ(call->cuMemFree_v2(m->memory[--m->memories]), 0);
    tcu__runtime_close(&m->runtime);
    CHECK(!fake->misuse || FAIL("misused: %s", fake->misused));
}

static void *machine_memory(machine *m, size_t size) {
    tcu__address *a = &m->memory[m->memories++];
    CHECK_EQ(m->runtime.device.driver.call.cuMemAlloc_v2(a, size), 0);
    return (void *)(uintptr_t)*a;
}

// The arguments of a launch, by places in a block.
typedef struct arguments {
    unsigned char at[768];
    uint32_t offset[BUFFERS + 4];
    tcu__args args;
} arguments;

static void argument(arguments *a, const void *value, size_t size) {
    a->offset[a->args.count++] = (uint32_t)a->args.size;
    memcpy(a->at + a->args.size, value, size);
    a->args.size += size;
}

// The maps of a launch stand behind its other arguments, the first of which are the addresses of buffers.
static void argument_maps(machine *m, arguments *a, const tc__grids *grids) {
    for (int i = 0; i < grids->maps; i++) {
        unsigned char map[TC_DEVICE_MAP_BYTES];
        tcu__address at;
        memcpy(&at, a->at + a->offset[grids->map[i].address], sizeof at);
        CHECK(tcu__map_make(&m->runtime.device, &grids->map[i], at, map) ||
              FAIL("%s", m->runtime.device.trouble.text));
        argument(a, map, sizeof map);
    }
}

static void machine_launch(machine *m, const char *name, const tc__grid *g,
                           const tc__ixpool *x, const tc__ixenv *sizes,
                           const arguments *a) {
    tcu__device *d = &m->runtime.device;
    tcu__launch_shape s;
    tcu__kernel k;
    memset(&s, 0, sizeof s);
    s.grid[0] = (unsigned)tc__ix_eval(x, g->blocks, sizes);
    s.grid[1] = s.grid[2] = s.block[1] = s.block[2] = 1;
    s.block[0] = (unsigned)g->threads;
    s.shared = (unsigned)tc__ix_eval(x, g->shared, sizes);
    if (g->waves && s.grid[0] > STAYING) s.grid[0] = STAYING; // they go from tile to tile
    if (g->cluster) s.cluster[0] = (unsigned)g->cluster, s.cluster[1] = s.cluster[2] = 1;
    int ok = tcu__kernel_get(d, &m->module, name, &s, &k) &&
             tcu__launch(d, &k, &s, &a->args, d->compute) &&
             TCU__DO(d, name, cuStreamSynchronize, d->compute);
    CHECK(ok || FAIL("%s: %s", name, d->trouble.text));
}

// ---- data

static void fill(void *p, int64_t n, int dtype, uint32_t seed, int all) {
    for (int64_t i = 0; i < n; i++) {
        tc__value v;
        uint32_t bits = test_word((uint32_t)i, seed);
        v.i = bits % 19;
        if (dtype != TC_U8) v.i -= 9;
        if (all) v.i = dtype == TC_U8 ? (int64_t)(bits >> 24) : (int64_t)(bits >> 24) - 128;
        if (tc__is_float(dtype)) v.f = (double)(int32_t)bits / 2147483648.0;
        tc__value_store(p, i, dtype, v);
    }
}

static double rounded(double x, int dtype) {
    uint16_t half[1];
    tc__value v;
    v.f = x;
    if (!tc__is_half(dtype)) return x;
    tc__value_store(half, 0, dtype, v);
    return tc__value_load(half, 0, dtype).f;
}

// An element as the product sees it: rounded to its dtype.
static double element(const void *p, int64_t i, const product *q, int from) {
    tc__value v = tc__value_load(p, i, from);
    if (!tc__is_float(from)) return (double)v.i;
    return from == q->dtype ? v.f : rounded(v.f, q->dtype);
}

// One of the right operand: f32 rounds, and casts do; halves are multiplied as f32, and rounded where they
// go to tensor cores.
static double scaled(const product *q, void *const *in, int64_t i, int64_t k, int64_t c) {
    double w = element(in[1], i, q, q->from) - (q->flags & OFFSET ? 8 : 0);
    int64_t group = q->group ? k / q->group : 0, groups = q->group ? q->k / q->group : 1;
    int64_t at = q->flags & TURNED_RIGHT ? c * groups + group : group * q->n + c;
    w *= tc__value_load(in[3], at, q->scale).f;
    if (tc__computed_as(q->scale) == TC_F32) w = (float)w;
    int rounds = q->scale != q->dtype || q->form == TC__PRODUCT_TILES;
    return rounds ? rounded(w, q->dtype) : w;
}

// Both operands of batch b as doubles, rows of the left one and columns of the right one along k: of malloc.
static double *unpacked(const product *q, void *const *in, int64_t b) {
    const int left = q->flags & TURNED_LEFT, right = q->flags & TURNED_RIGHT;
    int64_t x = q->flags & ONE_LEFT ? 0 : b * q->m * q->k,
            y = q->flags & ONE_RIGHT ? 0 : b * q->k * q->n;
    double *to = (double *)malloc(sizeof *to * (size_t)((q->m + q->n) * q->k + 1)),
           *at = to;
    if (!to) abort();
    for (int64_t r = 0; r < q->m; r++)
        for (int64_t k = 0; k < q->k; k++)
            *at++ = element(in[0], x + (left ? k * q->m + r : r * q->k + k), q,
                            q->scale ? q->dtype : q->from);
    for (int64_t c = 0; c < q->n; c++)
        for (int64_t k = 0; k < q->k; k++) {
            int64_t i = y + (right ? c * q->k + k : k * q->n + c);
            *at++ = q->scale ? scaled(q, in, i, k, c) : element(in[1], i, q, q->from);
        }
    return to;
}

// *size: of what is added up, without signs.
static double sum_of(const double *left, const double *right, int64_t k, double *size) {
    double sum = 0, all = 0;
    for (int64_t i = 0; i < k; i++) {
        double v = left[i] * right[i];
        sum += v, all += fabs(v);
    }
    *size = all;
    return sum;
}

static double tolerance_of(int dtype) {
    return dtype == TC_F64    ? 1e-13
           : dtype == TC_F32  ? 1e-5
           : dtype == TC_F16  ? 1e-3
           : dtype == TC_BF16 ? 8e-3
                              : 0;
}

// Gives how far an element is from what it should be, as a part of what was added up.
static double check_element(const product *q, const void *out, int64_t i, double want,
                            double size, double rounded, int number_of) {
    tc__value v = tc__value_load(out, i, result_dtype(q));
    double have = tc__is_float(q->dtype) ? v.f : (double)v.i,
           near = tolerance_of(result_dtype(q)) * (fabs(want) > 1 ? fabs(want) : 1);
    if (result_dtype(q) == TC_F32) near += 1e-7 * size;
    if (q->flags & TF32) near = size / 2048 + 1e-6;
    near += 1.13 * rounded; // the steepest that gelu is
    CHECK(fabs(have - want) <= near ||
          FAIL("product %d, %dx%dx%dx%d: [%lld] is %.9g, not %.9g", number_of, q->batch,
               q->m, q->n, q->k, (long long)i, have, want));
    return fabs(have - want) / (size > 0 ? size : 1);
}

// How far a sum moves that warps leave to others in halves, where the result would not have it rounded: half of the last
// place.
static double rounding_of(const product *q, double sum) {
    int own = (q->flags & RELAY) == RELAY && (q->flags & LINEAR) == GELU;
    return !own ? 0 : fabs(sum) / (q->dtype == TC_F16 ? 2048 : 256);
}

static void check_results(const product *q, void *const *in, void *const *out,
                          int number_of) {
    double furthest = 0, size;
    for (int64_t b = 0; b < q->batch; b++) {
        double *left = unpacked(q, in, b), *right = left + q->m * q->k;
        for (int64_t r = 0; r < q->m; r++)
            for (int64_t c = 0; c < q->n; c++) {
                int64_t i = (b * q->m + r) * q->n + c;
                double v = sum_of(left + r * q->k, right + c * q->k, q->k, &size),
                       rounded = rounding_of(q, v);
                if (q->flags & GELU) {
                    tc__value bias = tc__value_load(in[2], c, result_dtype(q));
                    v += bias.f;
                    if (q->flags & SUM)
                        check_element(q, out[1], i, v, size, rounded, number_of);
                    v = v * 0.5 * erfc(-v / sqrt(2.0));
                }
                double far = check_element(q, out[0], i, v, size, rounded, number_of);
                if (far > furthest) furthest = far;
            }
        free(left);
    }
    if (q->flags & TF32 && q->k) CHECK(furthest > 2e-6); // it was rounded
}

// What lies behind a result must stay as it was.
enum { GUARD = 64, GUARDED = 0xee };

static void check_product(machine *m, const made *k, const product *q, int number_of) {
    const tc__group *g = k->group;
    int64_t kargs[4] = {0, q->m, q->n, q->k}; // the state and the sizes
    void *in[4] = {NULL, NULL, NULL, NULL}, *out[2] = {NULL, NULL};
    unsigned char *guard[2] = {NULL, NULL}, *work = NULL;
    size_t zeroed = 0;
    tc__grids grids;
    tc__ixenv env;
    arguments a;
    char symbol[32];
    memset(&env, 0, sizeof env), memset(&a, 0, sizeof a);
    env.sym = kargs + 1;
    a.args.at = a.at, a.args.offset = a.offset;
    for (size_t i = 0; i < g->buffer.count; i++) {
        const tc__kbuf *b = &g->buffer.at[i];
        int64_t n = tc__ix_eval(&k->ix, b->numel, &env);
        size_t bytes = (size_t)n * tc__dtypes[b->dtype].bytes;
        unsigned char *p = (unsigned char *)machine_memory(m, bytes + GUARD);
        memset(p, GUARDED, bytes + GUARD);
        if (b->place == TC__BUF_INPUT) {
            in[b->source] = p;
            fill(p, n, b->dtype, b->source + 1, q->scale && b->dtype == q->from);
        } else {
            int second = b->source != k->outputs.at[0];
            out[second] = p, guard[second] = p + bytes;
        }
        argument(&a, &p, sizeof p);
    }
    REQUIRE(tc__cuda_grids(g->body.ctx, g, &grids));
    if (!tc__ix_equals(grids.workspace, 0)) {
        size_t bytes = (size_t)tc__ix_eval(&k->ix, grids.workspace, &env);
        work = (unsigned char *)machine_memory(m, bytes);
        zeroed = (size_t)tc__ix_eval(&k->ix, grids.zeroed, &env);
        memset(work, GUARDED, bytes);
        memset(work, 0, zeroed);
        argument(&a, &work, sizeof work);
    }
    argument(&a, kargs, sizeof kargs[0] * (size_t)(grids.sizes ? grids.sizes + 1 : 2));
    argument_maps(m, &a, &grids);
    REQUIRE(grids.count == 1);
    snprintf(symbol, sizeof symbol, "kernel%d", number_of);
    int few = q->batch * q->m * q->n < 100000;
    for (int i = 0; i < (work && few ? 2 : 1); i++) // the second has what the first left
        machine_launch(m, symbol, &grids.at[0], &k->ix, &env, &a);
    for (size_t i = 0; work && i < zeroed; i++) CHECK_EQ(work[i], 0);
    check_results(q, in, out, number_of);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < GUARD && guard[i]; j++) CHECK_EQ(guard[i][j], GUARDED);
}

static void check_nvrtc(const char *source) {
    nvrtc_result r;
    if (nvrtc_open()) return;
    int ok = nvrtc_compile(source, "sm_90a", &r);
    CHECK((ok && !strstr(r.log, "warning") && !nvrtc_spills(&r)) || FAIL("%s", r.log));
    nvrtc_free(&r);
}

static void check_products(const product *q, int count) {
    setenv("EMULATE_LEVEL", "-O1",
           1); // these texts run for longer than they take to compile
    made k[MOST];
    machine m;
    tc__text t;
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    tc_ctx *c = tc_open(&config);
    tc__text_init(&t, c);
    REQUIRE(count <= MOST);
    for (int i = 0; i < count; i++) make(c, &k[i], &q[i]);
    print_all(c, &t, k, count);
    check_nvrtc(t.at);
    if (machine_open(&m, t.at)) {
        for (int i = 0; i < count; i++) check_product(&m, &k[i], &q[i], i);
        machine_close(&m);
    }
    for (int i = 0; i < count; i++) unmake(c, &k[i]);
    tc__text_free(&t);
    tc_close(c);
}

#define PRODUCTS(name, ...)                                                                \
    TEST(name) {                                                                           \
        static const product q[] = {__VA_ARGS__};                                          \
        check_products(q, (int)TC__COUNT(q));                                              \
    }

// ---- cases: dtype, from, batch, m, n, k, flags, form, symbolic

PRODUCTS(tiles_of_f32, {TC_F32, TC_F32, 1, 64, 64, 48, 0, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 1, 50, 70, 37, 0, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 2, 50, 70, 37, BOTH, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 2, 52, 76, 44, TURNED_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 3, 36, 40, 20, TURNED_LEFT, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 1, 40, 40, 1, 0, TC__PRODUCT_TILES, 0})

// As many elements as choose the larger tiles.
PRODUCTS(large_tiles, {TC_F32, TC_F32, 1, 1536, 1408, 5, 0, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 1, 640, 644, 6, TURNED_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_BF16, 1, 1530, 1407, 133, BOTH, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 2, 900, 1152, 128, TURNED_LEFT | GELU | SUM, TILES, 0},
         {TC_BF16, TC_BF16, 1, 1536, 1408, 8, 0, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_BF16, 1, 1408, 3000, 8, TURNED_LEFT, TC__PRODUCT_TILES, 0})

PRODUCTS(tiles_of_other_types, {TC_F64, TC_F64, 1, 64, 64, 32, 0, TC__PRODUCT_TILES, 0},
         {TC_F64, TC_F64, 2, 33, 35, 21, BOTH, TC__PRODUCT_TILES, 0},
         {TC_I32, TC_I32, 1, 50, 36, 37, TURNED_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_I64, TC_I64, 1, 36, 50, 20, TURNED_LEFT, TC__PRODUCT_TILES, 0})

PRODUCTS(operands_that_are_cast, {TC_F32, TC_BF16, 1, 64, 64, 64, 0, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_U8, 1, 60, 50, 40, BOTH, TC__PRODUCT_TILES, 0},
         {TC_F64, TC_F16, 1, 64, 64, 32, TURNED_LEFT, TC__PRODUCT_TILES, 0},
         {TC_F16, TC_F32, 1, 64, 72, 64, 0, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_F32, 1, 60, 50, 44, BOTH, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_F32, 1, 2, 64, 64, 0, TC__PRODUCT_FEW, 0})

PRODUCTS(tensor_cores, {TC_F16, TC_F16, 1, 64, 64, 96, 0, TC__PRODUCT_TILES, 0},
         {TC_F16, TC_F16, 1, 72, 88, 72, TURNED_LEFT, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_BF16, 1, 72, 88, 72, TURNED_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_BF16, 3, 40, 80, 64, BOTH, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_BF16, 1, 51, 71, 37, 0, TC__PRODUCT_TILES, 0},
         {TC_F16, TC_F16, 2, 51, 71, 37, BOTH, TC__PRODUCT_TILES, 0},
         {TC_F16, TC_F16, 2, 40, 72, 51, TURNED_LEFT, TC__PRODUCT_TILES, 0})

// Each tile of matrix units, operands in all orders, with rests, batches, casts and slices of k.
PRODUCTS(matrix_units, {TC_BF16, TC_BF16, 1, 128, 256, 192, MATRIX, TILES, 0, 0, 0, 1},
         {TC_F16, TC_F16, 1, 136, 264, 200, MATRIX | BOTH, TILES, 0, 0, 0, 1},
         {TC_BF16, TC_BF16, 1, 130, 130, 70, MATRIX | TURNED_RIGHT, TILES, 0, 0, 0, 2},
         {TC_BF16, TC_BF16, 1, 256, 192, 320, MATRIX, TILES, 0, 0, 0, 3},
         {TC_F16, TC_F16, 1, 260, 200, 136, MATRIX | BOTH | GELU, TILES, 0, 0, 0, 3},
         {TC_BF16, TC_BF16, 1, 256, 128, 320, MATRIX | TURNED_LEFT, TILES, 0, 0, 0, 4},
         {TC_F16, TC_F16, 1, 300, 200, 72, MATRIX, TILES, 0, 0, 0, 4},
         {TC_BF16, TC_BF16, 1, 128, 192, 400, MATRIX, TILES, 0, 0, 0, 5},
         {TC_BF16, TC_BF16, 1, 200, 200, 72, MATRIX | BOTH | GELU, TILES, 0, 0, 0, 5},
         {TC_F16, TC_F16, 2, 128, 128, 128, MATRIX | TURNED_LEFT, TILES, 0, 0, 0, 6})

PRODUCTS(small_tiles_of_matrix_units,
         {TC_F16, TC_F16, 3, 120, 64, 64, MATRIX | TURNED_RIGHT, TILES, 0, 0, 0, 7},
         {TC_BF16, TC_BF16, 1, 129, 65, 129, MATRIX, TILES, 0, 0, 0, 7},
         {TC_BF16, TC_BF16, 1, 64, 128, 256, MATRIX | TURNED_LEFT | GELU, TILES, 0, 0, 0,
          8},
         {TC_F16, TC_F16, 2, 51, 71, 37, MATRIX | BOTH | WIDE, TILES, 0, 0, 0, 8},
         {TC_BF16, TC_BF16, 1, 72, 88, 72, MATRIX | TURNED_RIGHT, TILES, 0, 0, 0, 9},
         {TC_BF16, TC_BF16, 4, 40, 40, 64, MATRIX | ONE_RIGHT, TILES, 0, 0, 0, 9},
         {TC_BF16, TC_F32, 1, 60, 50, 44, MATRIX | BOTH, TILES, 0, 0, 0, 9},
         {TC_F16, TC_F32, 1, 64, 72, 64, MATRIX, TILES, 0, 0, 0, 2},
         {TC_BF16, TC_BF16, 1, 72, 88, 5000, MATRIX | CUT | GELU | SUM, TILES, 0},
         {TC_BF16, TC_BF16, 2, 65, 40, 33, MATRIX | WIDE | TURNED_RIGHT | GELU, TILES, 1},
         {TC_BF16, TC_I8, 1, 64, 136, 128, MATRIX, TILES, 0, TC_F32, 0})

// The same, where the device brings operands: each tile, all orders, rests, batches, one operand for all of them.
PRODUCTS(mapped, {TC_BF16, TC_BF16, 1, 128, 256, 192, MAPPED, TILES, 0, 0, 0, 1},
         {TC_F16, TC_F16, 1, 136, 264, 200, MAPPED | BOTH, TILES, 0, 0, 0, 1},
         {TC_BF16, TC_BF16, 1, 264, 136, 584, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 2},
         {TC_BF16, TC_BF16, 1, 200, 200, 72, MAPPED | BOTH | GELU, TILES, 0, 0, 0, 3},
         {TC_F16, TC_F16, 1, 130, 400, 400, MAPPED | WIDE, TILES, 0, 0, 0, 3},
         {TC_BF16, TC_BF16, 1, 264, 128, 320, MAPPED | TURNED_LEFT, TILES, 0, 0, 0, 4},
         {TC_F16, TC_F16, 1, 304, 200, 72, MAPPED | GELU | SUM, TILES, 0, 0, 0, 4},
         {TC_F16, TC_F16, 3, 120, 64, 64, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 5})

PRODUCTS(small_tiles_of_mapped,
         {TC_BF16, TC_BF16, 1, 72, 320, 72, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 6},
         {TC_BF16, TC_BF16, 1, 64, 128, 256, MAPPED | TURNED_LEFT | GELU, TILES, 0, 0, 0,
          7},
         {TC_F16, TC_F16, 2, 72, 64, 40, MAPPED | BOTH | WIDE, TILES, 0, 0, 0, 7},
         {TC_BF16, TC_BF16, 1, 51, 71, 40, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 8},
         {TC_BF16, TC_BF16, 4, 40, 40, 64, MAPPED | ONE_RIGHT, TILES, 0, 0, 0, 8},
         {TC_F16, TC_F16, 5, 72, 48, 64, MAPPED | ONE_LEFT | TURNED_RIGHT, TILES, 0, 0, 0,
          8},
         {TC_BF16, TC_BF16, 1, 72, 88, 5000, MAPPED | CUT | GELU | SUM, TILES, 0},
         {TC_BF16, TC_BF16, 3, 40, 72, 4104, MAPPED | CUT | BOTH | GELU, TILES, 0},
         {TC_BF16, TC_BF16, 1, 72, 88, 72, BACK | BOTH | MAPPED, TILES, 0})

// Columns of one and a half lines, where the right operand runs along k: whole ones, rests, batches, pairs of blocks.
PRODUCTS(lines_and_a_half_of_mapped,
         {TC_BF16, TC_BF16, 1, 128, 192, 584, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 10},
         {TC_F16, TC_F16, 2, 136, 104, 72, MAPPED | TURNED_RIGHT | GELU, TILES, 0, 0, 0,
          10},
         {TC_BF16, TC_BF16, 1, 130, 131, 72, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 10},
         {TC_F16, TC_F16, 1, 200, 264, 136, PAIRS | TURNED_RIGHT, TILES, 0, 0, 0, 10})

// Results of odd rows come to the hole one by one, as lines of a warp: at once, and in turns.
PRODUCTS(odd_rows_of_mapped,
         {TC_BF16, TC_BF16, 1, 130, 131, 72, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 2},
         {TC_F16, TC_F16, 1, 72, 131, 136, MAPPED | TURNED_RIGHT | GELU, TILES, 0, 0, 0, 8},
         {TC_BF16, TC_BF16, 2, 65, 77, 72, MAPPED | TURNED_RIGHT | WIDE, TILES, 0, 0, 0, 9})

// Which products others finish, if nobody says so, and that no tile of max-autotune changes how often a sum is rounded.
TEST(relays_are_chosen) {
    static const struct {
        product q;
        int relays, exact;
    } of[] = {
        {{TC_F16, TC_F16, 1, 4096, 4096, 1024, RELAY | TURNED_RIGHT | LINEAR, TILES, 0, 0,
          0, 0},
         1,
         1},
        {{TC_F16, TC_F16, 1, 4096, 4096, 1024, RELAY | TURNED_RIGHT | GELU, TILES, 0, 0, 0,
          0},
         1,
         0},
        {{TC_F16, TC_F16, 1, 4096, 4096, 1024, RELAY | TURNED_RIGHT, TILES, 0, 0, 0, 0},
         1,
         1},
        {{TC_F16, TC_F16, 1, 4096, 4096, 256, RELAY | TURNED_RIGHT | GELU, TILES, 0, 0, 0,
          0},
         0,
         0}, // too few products
        {{TC_F16, TC_F16, 1, 1024, 1024, 1024, MAPPED | TURNED_RIGHT, TILES, 0, 0, 0, 0},
         0,
         0}}; // a tile a block
    tc_ctx *c = tc_open(NULL);
    for (size_t i = 0; i < TC__COUNT(of); i++) {
        made k;
        int others = 0;
        make(c, &k, &of[i].q);
        tc__group *g = k.s.kernel.at[0];
        g->shape.tuning.knob[TC__KNOB_RELAY] = 0;
        CHECK_EQ(tc__product_plan(g).relay != 0, of[i].relays);
        CHECK_EQ(tc__product_relay_fits(g, of[i].relays ? TC__RELAY_OFF : TC__RELAY_ON),
                 of[i].exact);
        for (int v = 1; v <= 10; v++) {
            g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE] = 0;
            if (!tc__product_tile_fits(g, v)) continue;
            g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE] = (uint8_t)v;
            others += (tc__product_plan(g).relay != 0) != of[i].relays;
        }
        if (!of[i].exact) CHECK_EQ(others, 0);
        unmake(c, &k);
    }
    tc_close(c);
}

// Results by other warps: more tiles than blocks, of one part of rows and two, rests, all tiles that have the registers.
PRODUCTS(relayed,
         {TC_BF16, TC_BF16, 1, 264, 512, 72, RELAY | TURNED_RIGHT | LINEAR, TILES, 0, 0, 0,
          1},
         {TC_F16, TC_F16, 1, 136, 264, 200, RELAY | BOTH, TILES, 0, 0, 0, 1},
         {TC_BF16, TC_BF16, 1, 264, 392, 136, RELAY | LINEAR | SUM, TILES, 0, 0, 0, 2},
         {TC_F16, TC_F16, 5, 130, 200, 72, RELAY | TURNED_RIGHT | GELU, TILES, 0, 0, 0, 3},
         {TC_BF16, TC_BF16, 1, 520, 136, 72, RELAY | TURNED_RIGHT | GELU | SUM, TILES, 0, 0,
          0, 4},
         {TC_BF16, TC_BF16, 3, 200, 72, 264, RELAY | TURNED_RIGHT | LINEAR, TILES, 0, 0, 0,
          5},
         {TC_BF16, TC_BF16, 1, 1000, 264, 72, RELAY | PAIRS | TURNED_RIGHT | LINEAR, TILES,
          0, 0, 0, 1})

// Rows that begin inside of lines: pairs of blocks, of each order, rest and batch, one after the other, and with slices of k.
PRODUCTS(pairs_of_mapped, {TC_BF16, TC_BF16, 1, 256, 264, 200, PAIRS, TILES, 0, 0, 0, 1},
         {TC_F16, TC_F16, 1, 200, 264, 136, PAIRS | BOTH, TILES, 0, 0, 0, 2},
         {TC_BF16, TC_BF16, 1, 1000, 200, 72, PAIRS | TURNED_RIGHT | GELU, TILES, 0, 0, 0,
          3},
         {TC_F16, TC_F16, 3, 120, 72, 328, PAIRS | TURNED_LEFT, TILES, 0, 0, 0, 9},
         {TC_BF16, TC_BF16, 2, 72, 71, 136, PAIRS | ONE_LEFT | TURNED_RIGHT, TILES, 0, 0, 0,
          9},
         {TC_BF16, TC_BF16, 1, 72, 88, 5000, PAIRS | CUT | GELU | SUM, TILES, 0})

// As gradients come: they are copies all the same.
PRODUCTS(halves_there_and_back, {TC_BF16, TC_BF16, 1, 64, 64, 96, BACK, TILES, 0},
         {TC_F16, TC_F16, 1, 72, 88, 72, BACK | TURNED_LEFT, TILES, 0},
         {TC_BF16, TC_BF16, 3, 40, 80, 64, BACK | BOTH | GELU, TILES, 0},
         {TC_F16, TC_F16, 2, 51, 71, 37, BACK | TURNED_RIGHT, TILES, 0},
         {TC_BF16, TC_BF16, 4, 40, 40, 64, BACK | ONE_RIGHT, TILES, 0},
         {TC_BF16, TC_BF16, 1, 64, 64, 4096, BACK | CUT, TILES, 0},
         {TC_BF16, TC_BF16, 1, 4, 72, 136, BACK | TURNED_RIGHT, FEW, 0},
         {TC_BF16, TC_BF16, 1, 72, 88, 72, BACK | BOTH | MATRIX, TILES, 0})

// What a composite op makes of a product of halves, before it rounds.
PRODUCTS(halves_that_stay_f32,
         {TC_BF16, TC_BF16, 1, 72, 88, 72, WIDE | TURNED_RIGHT, TILES, 0},
         {TC_F16, TC_F16, 2, 51, 71, 37, WIDE | BOTH | GELU | SUM, TILES, 0},
         {TC_BF16, TC_BF16, 1, 4, 72, 136, WIDE | TURNED_RIGHT | GELU, FEW, 0},
         {TC_F16, TC_F16, 1, 72, 2, 64, WIDE | TURNED_LEFT, FEW, 0},
         {TC_F16, TC_F16, 1, 16, 72, 5003, WIDE | CUT | GELU | SUM, TILES, 0},
         {TC_BF16, TC_BF16, 2, 4, 72, 9001, WIDE | CUT | GELU | SUM, FEW, 0},
         {TC_BF16, TC_BF16, 2, 65, 40, 33, WIDE | TURNED_RIGHT | GELU, TILES, 1},
         {TC_F16, TC_F16, 1, 3, 70, 0, WIDE | GELU, FEW, 0})

PRODUCTS(one_operand_for_all_batches,
         {TC_F32, TC_F32, 4, 40, 36, 20, ONE_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 4, 40, 36, 20, ONE_LEFT | TURNED_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_F16, TC_F16, 4, 40, 40, 64, ONE_RIGHT, TC__PRODUCT_TILES, 0},
         {TC_F32, TC_F32, 4, 2, 36, 20, ONE_RIGHT, TC__PRODUCT_FEW, 0})

PRODUCTS(few_rows, {TC_F32, TC_F32, 1, 1, 70, 64, 0, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 1, 3, 72, 64, 0, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 1, 1, 72, 132, TURNED_RIGHT, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 6, 1, 196, 256, TURNED_RIGHT, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 1, 16, 71, 37, TURNED_RIGHT, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 2, 5, 71, 37, 0, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 1, 1, 3, 9000, TURNED_RIGHT, TC__PRODUCT_FEW,
          0}, // a block for each
         {TC_F32, TC_F32, 1, 2, 4300, 40, TURNED_RIGHT, TC__PRODUCT_FEW, 0}, // two for each
         {TC_F32, TC_F32, 5, 2, 33, 8, TURNED_RIGHT, TC__PRODUCT_FEW, 0}, // four to a warp
         {TC_F64, TC_F64, 1, 3, 70, 64, TURNED_RIGHT, TC__PRODUCT_FEW, 0},
         {TC_I64, TC_I64, 1, 3, 70, 64, 0, TC__PRODUCT_FEW, 0},
         {TC_I32, TC_I32, 1, 3, 71, 33, 0, TC__PRODUCT_FEW, 0},
         {TC_F16, TC_F16, 1, 2, 72, 64, 0, TC__PRODUCT_FEW, 0},
         {TC_BF16, TC_BF16, 1, 4, 72, 136, TURNED_RIGHT, TC__PRODUCT_FEW, 0})

// One row, or column, times long ones: several threads of k and columns of each thread.
PRODUCTS(one_row_deep, {TC_BF16, TC_BF16, 1, 1, 3001, 4096, TURNED_RIGHT, FEW, 0},
         {TC_BF16, TC_BF16, 1, 1, 1111, 4104, TURNED_RIGHT | GELU, FEW, 0},
         {TC_F16, TC_F16, 1, 1, 530, 4096, TURNED_RIGHT | SUM | GELU, FEW, 0},
         {TC_F32, TC_F32, 1, 1, 700, 2052, TURNED_RIGHT, FEW, 0},
         {TC_F32, TC_F32, 3, 1, 300, 2048, TURNED_RIGHT | GELU, FEW, 0},
         {TC_BF16, TC_BF16, 1, 1201, 1, 4096, 0, FEW, 0})

PRODUCTS(few_columns, {TC_F32, TC_F32, 1, 70, 1, 64, 0, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 1, 72, 3, 64, TURNED_LEFT, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 3, 52, 4, 20, TURNED_LEFT, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 3, 50, 4, 21, TURNED_RIGHT | GELU, TC__PRODUCT_FEW, 0},
         {TC_F64, TC_F64, 1, 71, 2, 37, 0, TC__PRODUCT_FEW, 0},
         {TC_F16, TC_F16, 1, 72, 2, 64, TURNED_LEFT, TC__PRODUCT_FEW, 0})

PRODUCTS(epilogues, {TC_F32, TC_F32, 1, 50, 100, 40, TURNED_RIGHT | GELU, TILES, 0},
         {TC_F32, TC_F32, 2, 50, 99, 40, GELU | SUM, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_BF16, 1, 64, 128, 64, TURNED_RIGHT | GELU, TC__PRODUCT_TILES, 0},
         {TC_F16, TC_F16, 3, 40, 72, 40, GELU | SUM, TC__PRODUCT_TILES, 0},
         {TC_F64, TC_F64, 1, 40, 34, 20, GELU, TC__PRODUCT_TILES, 0},
         {TC_BF16, TC_BF16, 1, 2, 200, 128, TURNED_RIGHT | GELU, TC__PRODUCT_FEW, 0},
         {TC_F32, TC_F32, 6, 16, 19, 33, TURNED_RIGHT | GELU | SUM, FEW, 0})

PRODUCTS(sizes_known_when_it_runs,
         {TC_F32, TC_F32, 1, 50, 70, 37, TURNED_RIGHT | GELU, TC__PRODUCT_TILES, 1},
         {TC_F32, TC_F32, 2, 65, 64, 64, 0, TC__PRODUCT_TILES, 1},
         {TC_BF16, TC_BF16, 2, 65, 40, 33, TURNED_RIGHT, TC__PRODUCT_TILES, 1})

// ---- dequantised operands: ..., scale, group

PRODUCTS(scaled_columns, {TC_F32, TC_I8, 1, 64, 64, 48, 0, TILES, 0, TC_F32, 0},
         {TC_F32, TC_I8, 2, 50, 70, 37, BOTH, TILES, 0, TC_F32, 0},
         {TC_F32, TC_U8, 3, 42, 76, 44, TURNED_LEFT | ONE_RIGHT | OFFSET, TILES, 0, TC_F32,
          0},
         {TC_F32, TC_I8, 1, 40, 72, 200, TF32 | OFFSET, TILES, 0, TC_F32, 0},
         {TC_F64, TC_I8, 1, 33, 36, 20, GELU, TILES, 0, TC_F64, 0},
         {TC_BF16, TC_I8, 1, 64, 72, 96, 0, TILES, 0, TC_F32, 0},
         {TC_BF16, TC_I8, 1, 70, 88, 72, TURNED_RIGHT | GELU, TILES, 0, TC_BF16, 0},
         {TC_F16, TC_U8, 2, 40, 80, 64, BOTH | OFFSET, TILES, 0, TC_F32, 0},
         {TC_F16, TC_I8, 1, 51, 71, 37, 0, TILES, 0, TC_F16, 0},
         {TC_BF16, TC_I8, 1, 16, 72, 5000, CUT, TILES, 0, TC_F32, 0})

// Split f32, and the largest tile that registers suffice for.
PRODUCTS(large_scaled, {TC_F32, TC_I8, 1, 128, 1152, 132, 0, TILES, 0, TC_F32, 0},
         {TC_BF16, TC_I8, 1, 128, 1408, 40, TURNED_RIGHT, TILES, 0, TC_BF16, 0},
         {TC_F16, TC_I8, 1, 121, 1400, 24, 0, TILES, 0, TC_F32, 8})

PRODUCTS(scaled_groups, {TC_F32, TC_I8, 1, 64, 64, 48, 0, TILES, 0, TC_F32, 16},
         {TC_F32, TC_U8, 1, 50, 70, 35, TURNED_RIGHT | OFFSET, TILES, 0, TC_F32, 7},
         {TC_BF16, TC_I8, 1, 64, 72, 96, 0, TILES, 0, TC_BF16, 32},
         {TC_BF16, TC_I8, 1, 70, 88, 64, TURNED_RIGHT, TILES, 0, TC_F32, 32},
         {TC_F16, TC_U8, 1, 51, 72, 4096, CUT | OFFSET, TILES, 0, TC_F16, 128})

PRODUCTS(few_rows_scaled, {TC_BF16, TC_I8, 1, 1, 256, 128, 0, FEW, 0, TC_F32, 0},
         {TC_BF16, TC_I8, 1, 1, 100, 512, TURNED_RIGHT, FEW, 0, TC_F32, 0},
         {TC_BF16, TC_I8, 1, 4, 200, 72, OFFSET, FEW, 0, TC_BF16, 0},
         {TC_F16, TC_U8, 3, 2, 72, 136, TURNED_RIGHT | GELU | OFFSET, FEW, 0, TC_F16, 0},
         {TC_F32, TC_I8, 1, 1, 256, 64, 0, FEW, 0, TC_F32, 0},
         {TC_F32, TC_I8, 1, 5, 208, 64, 0, FEW, 0, TC_F32, 0},
         {TC_F32, TC_I8, 1, 16, 160, 37, 0, FEW, 0, TC_F32, 0},
         {TC_F32, TC_I8, 2, 16, 71, 37, BOTH, FEW, 0, TC_F32, 0},
         {TC_F64, TC_I8, 1, 3, 70, 64, TURNED_RIGHT, FEW, 0, TC_F64, 0},
         {TC_BF16, TC_I8, 1, 1, 256, 128, 0, FEW, 0, TC_F32, 32},
         {TC_BF16, TC_I8, 1, 1, 100, 512, TURNED_RIGHT, FEW, 0, TC_BF16, 128},
         {TC_F16, TC_I8, 1, 3, 96, 60, 0, FEW, 0, TC_F16, 6},
         {TC_F32, TC_I8, 1, 2, 90, 66, TURNED_RIGHT, FEW, 0, TC_F32, 33},
         {TC_BF16, TC_I8, 1, 1, 3, 20000, TURNED_RIGHT, FEW, 0, TC_F32, 0},
         {TC_BF16, TC_I8, 1, 1, 128, 9000, CUT, FEW, 0, TC_F32, 0})

PRODUCTS(few_columns_scaled, {TC_F32, TC_I8, 1, 70, 1, 64, 0, FEW, 0, TC_F32, 0},
         {TC_F32, TC_I8, 1, 72, 3, 64, BOTH, FEW, 0, TC_F32, 16})

// ---- slices of k

PRODUCTS(slices_of_halves, {TC_BF16, TC_BF16, 1, 64, 64, 4096, CUT, TILES, 0},
         {TC_BF16, TC_BF16, 1, 51, 70, 16390, CUT_2 | TURNED_RIGHT, TILES, 0},
         {TC_F16, TC_F16, 1, 16, 72, 5003, CUT | GELU | SUM, TILES, 0},
         {TC_BF16, TC_BF16, 3, 40, 72, 4104, CUT | BOTH | GELU, TILES, 0},
         {TC_F16, TC_F16, 1, 2, 72, 4096, CUT, FEW, 0},
         {TC_F16, TC_F16, 1, 64, 64, 256, 0, TILES, 0}) // too short

PRODUCTS(slices_of_others, {TC_F32, TC_F32, 1, 50, 70, 1001, CUT, TILES, 0},
         {TC_F32, TC_F32, 2, 36, 40, 2048, CUT | BOTH, TILES, 0},
         {TC_F32, TC_F32, 1, 50, 36, 12345, CUT_2 | TURNED_LEFT | GELU | SUM, TILES, 0},
         {TC_F64, TC_F64, 1, 33, 35, 1003, CUT | GELU, TILES, 0},
         {TC_I32, TC_I32, 1, 50, 36, 1037, CUT | TURNED_RIGHT, TILES, 0},
         {TC_I64, TC_I64, 2, 36, 50, 1020, CUT, TILES, 0})

PRODUCTS(slices_of_split_f32, {TC_F32, TC_F32, 1, 720, 768, 400, CUT, TILES, 0})

PRODUCTS(slices_of_few, {TC_F32, TC_F32, 1, 16, 100, 9001, CUT, FEW, 0},
         {TC_F32, TC_F32, 1, 1, 3, 70000, CUT | TURNED_RIGHT, FEW, 0},
         {TC_F32, TC_F32, 2, 36, 3, 4000, CUT | TURNED_RIGHT | GELU, FEW, 0},
         {TC_F64, TC_F64, 1, 3, 70, 2000, CUT | TURNED_RIGHT, FEW, 0},
         {TC_BF16, TC_BF16, 2, 4, 72, 9001, CUT | GELU | SUM, FEW, 0})

// ---- tf32

PRODUCTS(tf32, {TC_F32, TC_F32, 1, 64, 64, 48, TF32, TILES, 0},
         {TC_F32, TC_F32, 2, 50, 70, 37, TF32 | BOTH, TILES, 0},
         {TC_F32, TC_F32, 2, 52, 76, 44, TF32 | TURNED_RIGHT | GELU, TILES, 0},
         {TC_F32, TC_F32, 3, 36, 40, 20, TF32 | TURNED_LEFT, TILES, 0},
         {TC_F32, TC_F32, 1, 60, 52, 2500, TF32 | CUT | GELU | SUM, TILES, 0},
         {TC_F32, TC_F32, 1, 50, 70, 37, TF32 | TURNED_RIGHT, TILES, 1},
         {TC_F32, TC_F32, 1, 17, 17, 33, TF32, TILES, 0})

PRODUCTS(large_tiles_of_tf32, {TC_F32, TC_F32, 1, 1500, 1500, 20, TF32, TILES, 0},
         {TC_F32, TC_F32, 1, 1530, 1407, 17, TF32 | BOTH | GELU, TILES, 0})

// By matrix units, rounded on the way: each tile, operands in all orders, rests, batches, slices.
PRODUCTS(held, {TC_F32, TC_F32, 1, 256, 128, 96, HELD, TILES, 0, 0, 0, 1},
         {TC_F32, TC_F32, 1, 268, 132, 100, HELD | BOTH, TILES, 0, 0, 0, 1},
         {TC_F32, TC_F32, 1, 261, 260, 100, HELD | TURNED_RIGHT | GELU, TILES, 0, 0, 0, 1},
         {TC_F32, TC_F32, 1, 128, 128, 352, HELD | TURNED_LEFT, TILES, 0, 0, 0, 2},
         {TC_F32, TC_F32, 2, 132, 140, 72, HELD | GELU | SUM, TILES, 0, 0, 0, 2},
         {TC_F32, TC_F32, 1, 300, 68, 72, HELD, TILES, 0, 0, 0, 3},
         {TC_F32, TC_F32, 1, 256, 71, 68, HELD | BOTH, TILES, 0, 0, 0, 3},
         {TC_F32, TC_F32, 3, 120, 64, 96, HELD | TURNED_RIGHT, TILES, 0, 0, 0, 4},
         {TC_F32, TC_F32, 1, 200, 100, 97, HELD | TURNED_LEFT, TILES, 0, 0, 0, 4},
         {TC_F32, TC_F32, 1, 200, 101, 68, HELD, TILES, 0, 0, 0, 4})

PRODUCTS(small_tiles_of_held, {TC_F32, TC_F32, 1, 64, 128, 256, HELD, TILES, 0, 0, 0, 4},
         {TC_F32, TC_F32, 2, 72, 132, 76, HELD | BOTH, TILES, 0, 0, 0, 4},
         {TC_F32, TC_F32, 4, 40, 40, 96, HELD | ONE_RIGHT, TILES, 0, 0, 0, 5},
         {TC_F32, TC_F32, 5, 72, 48, 128, HELD | ONE_LEFT | TURNED_RIGHT, TILES, 0, 0, 0,
          5},
         {TC_F32, TC_F32, 1, 52, 76, 84, HELD | TURNED_LEFT, TILES, 0, 0, 0, 5},
         {TC_F32, TC_F32, 1, 72, 88, 5000, HELD | CUT | GELU | SUM, TILES, 0},
         {TC_F32, TC_F32, 3, 40, 72, 4100, HELD | CUT | BOTH | GELU, TILES, 0},
         {TC_F32, TC_F32, 1, 132, 64, 8192, HELD | CUT_2 | TURNED_LEFT, TILES, 0})

PRODUCTS(nothing_to_add_up, {TC_F32, TC_F32, 1, 50, 70, 0, TF32 | GELU, TILES, 0},
         {TC_F64, TC_F64, 1, 50, 70, 0, 0, TILES, 0},
         {TC_F16, TC_F16, 1, 3, 70, 0, GELU, FEW, 0})
