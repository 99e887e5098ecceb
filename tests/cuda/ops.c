// The cases of tests/ops/ops.c as regions on a CUDA device, against the same references in
// double. On a GPU all of them; on the emulator each op in f32, i32 and another dtype, in a
// layout that its name decides, because that compiles C++ for each region.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_device.h"

// ---- what ops.c asks of a place where ops run

#define OPS_DEVICE
typedef struct op_case op_case;
typedef struct batch batch;

static tc_tensor there(tc_tensor t) { return tc_to(t, DEVICE_NAME); }
static tc_ctx *open_context(int run);
static int is_wanted(const op_case *c);
static int is_worth_a_region(const batch *b);
static double least_ulp(const op_case *c);

#include "ops/ops.c"

static tc_ctx *open_context(int run) {
    tc_config config = tc_config_default();
    (void)run;
    config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    if (!open_device(tc)) exit(TEST_FAILED);
    return tc;
}

// NVIDIA's functions are not ours: what the CUDA C++ Programming Guide (Mathematical
// Functions Appendix, maximum ulp error) allows them, where that is more than the table asks.
static const struct {
    const char *name;
    double f32, f64;
} cuda_ulp[] = {{"exp", 2, 1},  {"exp2", 2, 1},  {"expm1", 1, 1}, {"log", 1, 1},
                {"log2", 1, 1}, {"log10", 2, 1}, {"log1p", 1, 1}, {"sin", 2, 2},
                {"cos", 2, 2},  {"tan", 4, 2},   {"asin", 2, 2},  {"acos", 2, 2},
                {"atan", 2, 2}, {"atan2", 3, 2}, {"sinh", 3, 2},  {"cosh", 2, 1},
                {"tanh", 2, 2}, {"pow", 4, 2},   {"erf", 2, 2},   {"rsqrt", 2, 1}};

static int is_word(const op_case *c, const char *word) {
    size_t n = strcspn(c->name, " ,");
    return strlen(word) == n && !strncmp(c->name, word, n);
}

static double least_ulp(const op_case *c) {
    double least = c->ulp;
    for (size_t i = 0; i < sizeof cuda_ulp / sizeof *cuda_ulp; i++) {
        double of = c->expected.dtype == TC_F64 ? cuda_ulp[i].f64 : cuda_ulp[i].f32;
        if (is_word(c, cuda_ulp[i].name) && of > least) least = of;
    }
    return least;
}

// ---- the subset of the emulator

static unsigned hash_of(const op_case *c) {
    unsigned h = 2166136261u;
    for (size_t i = 0; i < strcspn(c->name, " ,"); i++)
        h = (h ^ (unsigned char)c->name[i]) * 16777619u;
    return h >> 8;
}

// Elementwise and movement ops come in every layout: the one that is tried.
static int is_chosen_layout(const op_case *c) {
    static const int narrow[] = {PLAIN, TRANSPOSED, WAY_PAIRS};
    const char *way = strstr(c->name, ", way ");
    int dtype = c->in[0].dtype, h = (int)(hash_of(c) % 997);
    int few = !way_is_tried(dtype, STEPPED);
    if (!way && !strstr(c->name, ", layout ")) return 1;
    if (!way) return c->layout[0] == (few ? narrow[h % 2] : h % LAYOUTS);
    // Special values are in all ways but those of few elements.
    return atoi(way + 6) == (few ? narrow[h % 3] : h % LAYOUTS);
}

enum { MOST_NAMES = 1000 };

// Whether nobody asked for this op in this dtype before.
static int is_new_name(const op_case *c, int dtype) {
    static char name[MOST_NAMES][40];
    static int names;
    char word[40];
    int n = (int)strcspn(c->name, " ,");
    snprintf(word, sizeof word, "%.*s %d", n < 30 ? n : 30, c->name, dtype);
    for (int i = 0; i < names; i++)
        if (!strcmp(name[i], word)) return 0;
    if (names < MOST_NAMES) strcpy(name[names++], word);
    return 1;
}

static int is_wanted(const op_case *c) {
    int dtype = c->n_in ? c->in[c->n_in - 1].dtype : c->expected.dtype;
    int other = (int)(hash_of(c) % (TC_DTYPE_COUNT - 1)); // f32 left out
    if (device_is_real) return 1;
    if (dtype != TC_F32 && dtype != TC_I32 && dtype != other + (other >= TC_F32)) return 0;
    return is_chosen_layout(c) && is_new_name(c, dtype);
}

// Few and large regions there.
static int is_worth_a_region(const batch *b) {
    return device_is_real ? b->n > 0 : b->n > MAX_BATCH / 2;
}
