// Every tile of device/product_tiles.c with every kind of operand that can come to it, compiled by NVRTC for
// one of three architectures: registers suffice. Values are looked at by tests/cuda/products.c. Skipped where
// NVRTC is not installed.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"

#include "tcompile_cuda.in.h"

#include "harness.h"
#include "tools/nvrtc.h"

// How an operand lies in memory. SCALED: bytes times a number for each row (left) or column (right);
// GROUPED: and for each 32 along k, as halves.
// E4M3, E5M2: cast from that.
typedef enum source { DIRECT, CONVERTED, SCALED, GROUPED, E4M3, E5M2 } source;

// What the device can do with it.
typedef enum able {
    PLAIN,
    WITH_TF32,
    WITH_MATRIX_UNITS,
    WITH_MAPS,
    WITH_MAPS_AND_TF32,
    WITH_MAPS_AND_F8
} able;

enum { TURNED = 1, RESTS = 2, ODD = 4, GROUP = 32, MOST = 256, MOST_MADE = 1024 };

typedef struct pair {
    source left, right;
    int flags;
} pair;

static const pair pairs[] = {{DIRECT, DIRECT, 0},
                             {DIRECT, DIRECT, TURNED | RESTS},
                             {CONVERTED, DIRECT, 0},
                             {DIRECT, CONVERTED, TURNED | RESTS},
                             {CONVERTED, CONVERTED, 0},
                             {CONVERTED, CONVERTED, TURNED | RESTS},
                             {DIRECT, SCALED, 0},
                             {DIRECT, SCALED, TURNED},
                             {CONVERTED, SCALED, RESTS},
                             {SCALED, DIRECT, TURNED},
                             {SCALED, SCALED, TURNED | RESTS},
                             {DIRECT, GROUPED, 0},
                             {CONVERTED, GROUPED, TURNED},
                             {GROUPED, GROUPED, RESTS},
                             {DIRECT, DIRECT, ODD},
                             {CONVERTED, SCALED, ODD}};

// Those that matrix units take as f8.
static const pair f8_pairs[] = {
    {E4M3, E4M3, TURNED}, {E4M3, E5M2, TURNED}, {E5M2, E4M3, TURNED}, {E5M2, E5M2, TURNED}};

typedef struct texts {
    tc_ctx *c;
    tc__ixpool ix;
    tc__group *group[MOST];
    char name[MOST][80];
    int count;
    struct made {
        tc__graph graph;
        tc__schedule schedule; // of the graph: has the groups
    } * made[MOST_MADE];
    int makes;
} texts;

// ---- graphs

typedef struct shape {
    int lines, depth, deep_first; // deep_first: k is the first dimension in memory
} shape;

static int line(tc__text *t, int *node, const char *what, int dtype, const shape *s,
                int depth, int lines) {
    tc__put(t, "%%%d = %s", *node, what);
    tc__put(t, " %s[%d,%d]\n", tc__dtypes[dtype].name, s->deep_first ? depth : lines,
            s->deep_first ? lines : depth);
    return (*node)++;
}

static int put_groups(tc__text *t, int *node, const char *what, int dtype, const shape *s,
                      int each) {
    tc__put(t, "%%%d = %s %s", *node, what, tc__dtypes[dtype].name);
    if (s->deep_first)
        tc__put(t, "[%d,%d,%d]\n", s->depth / GROUP, each, s->lines);
    else
        tc__put(t, "[%d,%d,%d]\n", s->lines, s->depth / GROUP, each);
    return (*node)++;
}

static int put_scaled(tc__text *t, int *node, int input, int dtype, const shape *s) {
    char what[80];
    snprintf(what, sizeof what, "input x%d", input);
    int bytes = line(t, node, what, TC_I8, s, s->depth, s->lines);
    snprintf(what, sizeof what, "cast %%%d", bytes);
    int number = line(t, node, what, TC_F32, s, s->depth, s->lines);
    snprintf(what, sizeof what, "input x%d", input + 2);
    int scale = line(t, node, what, TC_F32, s, 1, s->lines);
    snprintf(what, sizeof what, "expand %%%d", scale);
    scale = line(t, node, what, TC_F32, s, s->depth, s->lines);
    snprintf(what, sizeof what, "mul %%%d %%%d", number, scale);
    int all = line(t, node, what, TC_F32, s, s->depth, s->lines);
    if (dtype == TC_F32) return all;
    snprintf(what, sizeof what, "cast %%%d", all);
    return line(t, node, what, dtype, s, s->depth, s->lines);
}

static int put_grouped(tc__text *t, int *node, int input, int dtype, const shape *s) {
    char what[80];
    snprintf(what, sizeof what, "input x%d", input);
    int bytes = put_groups(t, node, what, TC_I8, s, GROUP);
    snprintf(what, sizeof what, "cast %%%d", bytes);
    int number = put_groups(t, node, what, dtype, s, GROUP);
    snprintf(what, sizeof what, "input x%d", input + 2);
    int scale = put_groups(t, node, what, TC_F16, s, 1);
    snprintf(what, sizeof what, "cast %%%d", scale);
    if (dtype != TC_F16) scale = put_groups(t, node, what, dtype, s, 1);
    snprintf(what, sizeof what, "expand %%%d", scale);
    scale = put_groups(t, node, what, dtype, s, GROUP);
    snprintf(what, sizeof what, "mul %%%d %%%d", number, scale);
    int all = put_groups(t, node, what, dtype, s, GROUP);
    snprintf(what, sizeof what, "reshape %%%d", all);
    return line(t, node, what, dtype, s, s->depth, s->lines);
}

static int put_operand(tc__text *t, int *node, int input, source from, int dtype,
                       const shape *s) {
    char what[80];
    if (from == SCALED) return put_scaled(t, node, input, dtype, s);
    if (from == GROUPED) return put_grouped(t, node, input, dtype, s);
    snprintf(what, sizeof what, "input x%d", input);
    int other = tc__is_half(dtype) ? TC_F32 : dtype == TC_F64 ? TC_F16 : TC_BF16;
    if (from >= E4M3) other = from == E4M3 ? TC_F8E4M3 : TC_F8E5M2, from = CONVERTED;
    int at = line(t, node, what, from == CONVERTED ? other : dtype, s, s->depth, s->lines);
    if (from == DIRECT) return at;
    snprintf(what, sizeof what, "cast %%%d", at);
    return line(t, node, what, dtype, s, s->depth, s->lines);
}

// left[m, k] times right[k, n], or right[n, k] turned. No tile goes into sizes of RESTS, no access into
// those of ODD.
static void put_product(tc__text *t, int dtype, const pair *q, int rows, int size,
                        int depth) {
    // Rows are as many as columns, or few.
    int less = q->flags & ODD ? 7 : q->flags & RESTS ? 8 : 0;
    int node = 0, lines = size - less;
    int k = depth - (less && q->left == GROUPED ? GROUP : less);
    // What is computed or rounded at loads is so for a few lines of the other operand.
    int some = lines < TC__LOAD_MOST ? lines : TC__LOAD_MOST - less;
    shape left = {rows != size         ? rows
                  : q->right == DIRECT ? lines
                                       : some,
                  k, 0},
          right = {q->left == DIRECT ? lines : some, k, !(q->flags & TURNED)};
    int a = put_operand(t, &node, 0, q->left, dtype, &left);
    int b = put_operand(t, &node, 1, q->right, dtype, &right);
    if (q->flags & TURNED) {
        tc__put(t, "%%%d = permute %%%d order=1,0 %s[%d,%d]\n", node, b,
                tc__dtypes[dtype].name, k, right.lines);
        b = node++;
    }
    tc__put(t, "%%%d = matmul %%%d %%%d %s[%d,%d]\nreturn %%%d\n", node, a, b,
            tc__dtypes[dtype].name, left.lines, right.lines, node);
}

// ---- kernels

// The one kernel of a graph, as a device has it.
static tc__group *group_of(texts *t, const char *text) {
    struct made *made = (struct made *)calloc(1, sizeof *made);
    tc__graph from, *to = &made->graph;
    tc__schedule *s = &made->schedule;
    tc__ids outputs;
    if (!CHECK(t->makes < MOST_MADE)) exit(1);
    t->made[t->makes++] = made;
    memset(&outputs, 0, sizeof outputs);
    tc__graph_open(&from, t->c, &t->ix), tc__graph_open(to, t->c, &t->ix);
    CHECK((tc__read_graph(t->c, &from, text, &outputs) &&
           tc__verify(t->c, &from, TC__TENSOR) &&
           tc__passes_run(t->c, &from, to, outputs.at, outputs.count, 0, 0)) ||
          FAIL("%s\n%s", tc_error_text(t->c), text));
    uint8_t *output = (uint8_t *)calloc(to->node.count + 1, 1);
    output[outputs.at[0]] = 1;
    CHECK(tc__schedule_run(s, t->c, to, output, NULL, TC__FUSE_LOADS));
    CHECK(s->kernel.count == 1 || FAIL("%d kernels\n%s", (int)s->kernel.count, text));
    free(output);
    TC__VEC_FREE(t->c, outputs);
    tc__graph_close(&from);
    return s->kernel.at[0];
}

static tc__group *add(texts *t, int dtype, const pair *q, int rows, int size, int depth,
                      able able) {
    tc__text text;
    tc__text_init(&text, t->c);
    put_product(&text, dtype, q, rows, size, depth);
    tc__group *g = group_of(t, text.at);
    g->target.tf32 = able == WITH_TF32 || able == WITH_MAPS_AND_TF32;
    g->target.matrix_warps = able >= WITH_MATRIX_UNITS ? 4 : 0;
    g->target.tensor_maps = able >= WITH_MAPS;
    g->target.fast = able == WITH_MAPS_AND_F8;
    tc__text_free(&text);
    if (!CHECK(t->count < MOST)) exit(1);
    t->group[t->count++] = g;
    return g;
}

static const char *const words[] = {"direct",  "converted", "scaled",
                                    "grouped", "e4m3",      "e5m2"};

static void name(texts *t, const tc__product *q, const pair *operands) {
    snprintf(t->name[t->count - 1], sizeof t->name[0], "%dx%dx%d, %s times %s%s%s%s",
             q->tile->rows, q->tile->cols, q->tile->depth, words[operands->left],
             words[operands->right], operands->flags & TURNED ? ", turned" : "",
             operands->flags & RESTS ? ", with rests"
             : operands->flags & ODD ? ", odd"
                                     : "",
             q->slices > 1 ? ", in slices" : "");
}

// Which of the tiles of a pair a test has; the other half has those that this one has not.
typedef enum share { ALL, FIRST_HALF, SECOND_HALF } share;

// The tiles that a product of such operands may have, one after the other.
static void add_tiles(texts *t, int dtype, const pair *operands, able able, share share,
                      int *seen) {
    tc__product q;
    int turn = share == ALL ? 0 : (int)(operands - pairs) / 2;
    for (int i = 0;; i++) {
        int other = share != ALL && (turn + i) % 2 != (share == SECOND_HALF);
        tc__group *g = add(t, dtype, operands, 2048, 2048, 512, able);
        g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE] = 0;
        q = tc__product_plan(g);
        CHECK_EQ(q.form, TC__PRODUCT_TILES);
        if (i == tc__product_kinds[q.kind].count) break;
        const tc__product_tile *tile = &tc__product_kinds[q.kind].tile[i];
        if (other || !tc__tile_has_room(g, &q, tile)) {
            t->count--;
            continue;
        }
        g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE] = (uint8_t)(i + 1);
        q = tc__product_plan(g);
        CHECK(q.tile == tile);
        *seen |= 1 << i;
        name(t, &q, operands);
    }
    t->count--;
    tc__group *cut = add(t, dtype, operands, 320, 320, 8192, able);
    q = tc__product_plan(cut);
    CHECK(q.slices > 1);
    name(t, &q, operands);
}

// And the kernel of few rows.
static void add_few(texts *t, int dtype, const pair *operands) {
    static int turn;
    static const int rows[] = {1, 4, 3, 16, 2, 8};
    int m = rows[turn++ % 6];
    if (dtype != TC_F32 && m > 4) m /= 4;
    tc__group *g = add(t, dtype, operands, m, 1024, 4096, PLAIN);
    CHECK_EQ(tc__product_plan(g).form, TC__PRODUCT_FEW);
    snprintf(t->name[t->count - 1], sizeof t->name[0], "%d rows, %s times %s", m,
             words[operands->left], words[operands->right]);
}

// ---- what ptxas says

// The kernel whose resources the log tells before `at`: "Function properties for k12".
static const char *kernel_at(const texts *t, const char *log, const char *at) {
    static const char words[] = "properties for k";
    const char *last = NULL;
    for (const char *s = strstr(log, words); s && s < at; s = strstr(s + 1, words))
        last = s;
    int i = last ? atoi(last + sizeof words - 1) : -1;
    return i >= 0 && i < t->count ? t->name[i] : "a kernel";
}

static void check_log(const texts *t, const char *arch, const char *log) {
    static const char words[] = " bytes stack frame";
    for (const char *s = strstr(log, words); s; s = strstr(s + 1, words)) {
        const char *first = s;
        while (first > log && first[-1] != '\n') first--;
        if (atoi(first) || atoi(s + sizeof words))
            FAIL("%s: %s: %.*s", arch, kernel_at(t, log, s), (int)strcspn(first, "\n"),
                 first);
    }
}

static void compile(const texts *t, const char *arch) {
    tc__text text;
    nvrtc_result r;
    tc__text_init(&text, t->c);
    REQUIRE(tc__print_cuda_prelude(&text, (const tc__group *const *)t->group, t->count));
    for (int i = 0; i < t->count; i++) {
        char symbol[20];
        snprintf(symbol, sizeof symbol, "k%d", i);
        REQUIRE(tc__print_kernel(&text, t->group[i], &tc__dialect_cuda, symbol) ||
                FAIL("%s", tc_error_text(t->c)));
    }
    int ok = nvrtc_compile(text.at, arch, &r);
    CHECK((ok && !strstr(r.log, "warning")) || FAIL("%s: %.3000s", arch, r.log));
    CHECK(strstr(r.log, " bytes stack frame") || FAIL("ptxas says nothing: %s", r.log));
    check_log(t, arch, r.log);
    nvrtc_free(&r);
    tc__text_free(&text);
}

// The tiles of a kind, as bits: of those whose operands the device brings, columns of one and a half lines need a right one that
// runs along k, which is turned.
static int tiles_of(int kind, int turned) {
    int bits = 0;
    for (int i = 0; i < tc__product_kinds[kind].count; i++) {
        const tc__product_tile *t = &tc__product_kinds[kind].tile[i];
        if (turned || t->way != TC__WAY_MAPPED || t->cols % 64 == 0) bits |= 1 << i;
    }
    return bits;
}

// Every second pair, from `first` on; where the device brings operands, those that lie in memory as they are.
static void check_tiles(int dtype, able able, share share, const char *arch, size_t first) {
    static texts t;
    int seen = 0;
    const char *why = TEST_SANITIZED ? "ptxas says the same; cuda/products runs such texts"
                                     : nvrtc_open();
    if (why) SKIP(why);
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    t.c = tc_open(&config);
    tc__ix_open(&t.ix, t.c);
    if (able == WITH_MAPS_AND_F8)
        add_tiles(&t, dtype, &f8_pairs[first], able, share, &seen);
    else
        for (size_t i = first; i < (able >= WITH_MAPS ? 2 : TC__COUNT(pairs)); i += 2)
            add_tiles(&t, dtype, &pairs[i], able, share, &seen);
    for (size_t i = first; i < TC__COUNT(pairs) && able == PLAIN; i += 2)
        add_few(&t, dtype, &pairs[i]);
    int turned = able == WITH_MAPS_AND_F8 || pairs[first].flags & TURNED;
    CHECK_EQ(seen, tiles_of(tc__product_plan(t.group[0]).kind, turned));
    compile(&t, arch);
    for (int i = 0; i < t.makes; i++) {
        tc__schedule_close(&t.made[i]->schedule);
        tc__graph_close(&t.made[i]->graph);
        free(t.made[i]);
    }
    tc__ix_close(&t.ix);
    tc_close(t.c);
}

// No text asks which of 8.0 and 8.9 it is for, registers are shared out alike by all three, and the loop of a product is
// the same instructions. Each pair has every tile: of the two halves, whose texts differ in the names of a product's step
// and of conversions, in one of them, bf16 for one of the former two or f16 for sm_90a, in turn.
#define TILES(name, dtype, able, share, even, odd)                                         \
    TEST(name##_##even) { check_tiles(dtype, able, share, #even, 0); }                     \
    TEST(name##_##odd##_others) { check_tiles(dtype, able, share, #odd, 1); }

TILES(bf16, TC_BF16, PLAIN, FIRST_HALF, sm_80, sm_89)
TILES(f16, TC_F16, PLAIN, SECOND_HALF, sm_90a, sm_90a)
TILES(f32, TC_F32, PLAIN, ALL, sm_80, sm_90a)
TILES(tf32, TC_F32, WITH_TF32, ALL, sm_89, sm_90a)
TILES(f64, TC_F64, PLAIN, ALL, sm_90a, sm_80)

#define DEVICE_TILES(name, dtype, able, first)                                             \
    TEST(name) { check_tiles(dtype, able, ALL, "sm_90a", first); }
DEVICE_TILES(bf16_by_matrix_units, TC_BF16, WITH_MATRIX_UNITS, 0)
DEVICE_TILES(bf16_by_maps, TC_BF16, WITH_MAPS, 0)
DEVICE_TILES(f16_by_maps, TC_F16, WITH_MAPS, 1)
DEVICE_TILES(tf32_by_maps, TC_F32, WITH_MAPS_AND_TF32, 0)
DEVICE_TILES(tf32_by_maps_turned, TC_F32, WITH_MAPS_AND_TF32, 1)
DEVICE_TILES(f16_by_matrix_units, TC_F16, WITH_MATRIX_UNITS, 1)
DEVICE_TILES(e4m3_by_e4m3, TC_F32, WITH_MAPS_AND_F8, 0)
DEVICE_TILES(e4m3_by_e5m2, TC_BF16, WITH_MAPS_AND_F8, 1)
DEVICE_TILES(e5m2_by_e4m3, TC_F16, WITH_MAPS_AND_F8, 2)
DEVICE_TILES(e5m2_by_e5m2, TC_F32, WITH_MAPS_AND_F8, 3)
