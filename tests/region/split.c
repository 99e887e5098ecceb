// Long reductions of few rows: two kernels, for all threads, with the bits of one. Serial and
// split, interpreted and compiled, for this CPU and for the oldest, all give the same.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { CHUNK = 8192, OPS = 9, FORMS = 5 };

typedef struct form {
    const char *backend;
    const char *passes_off;
    const char *isa;
} form;

static const form forms[FORMS] = {{"aot_eager", "split", NULL},
                                  {"aot_eager", "", NULL},
                                  {"cpu", "all", NULL},
                                  {"cpu", "", NULL},
                                  {"cpu", "", "baseline"}};

static tc_ctx *open_form(const form *f) {
    tc_config config = tc_config_default();
    config.backend = f->backend, config.passes_off = f->passes_off;
    config.isa = f->isa;
    config.threads = 2, config.no_disk_cache = 1;
    return tc_open(&config);
}

// Values of both signs around 1, so that a product stays a number; -0 and, if asked, one NaN.
static void fill(float *p, int64_t n, int nan_too) {
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        double unit = (double)(state >> 8) / 16777216.0;
        p[i] = (float)((unit - 0.5) * 1e-3 + (i % 7 ? 1 : -1));
    }
    p[0] = -0.0f;
    if (nan_too) p[n - 2] = NAN;
}

static tc_tensor reduce(tc_tensor x, int op) {
    if (op == 0) return tc_sum(x, 1);
    if (op == 1) return tc_prod(x, 1);
    if (op == 2) return tc_amax(x, 1);
    if (op == 3) return tc_amin(x, 1);
    if (op == 4) return tc_mean(tc_mul(x, x), 1);
    if (op == 5)
        return tc_sum(tc_exp(tc_sub(x, tc_amax_dims(x, TC_DIMS(1), TC_KEEPDIM))), 1);
    if (op == 6) return tc_cast(tc_argmax(x, 1), TC_F32);
    if (op == 7) return tc_cast(tc_argmin(x, 1), TC_F32);
    return tc_cast(tc_argmax(tc_neg(tc_round(x)), 1), TC_F32); // equal ones in every chunk
}

// The results of all ops over x[rows, columns], and how many kernels the sum took.
static int run_form(const form *f, const float *data, int64_t rows, int64_t columns,
                    float *out) {
    static const char *const names[OPS] = {"sum",  "prod",   "amax",   "amin", "mean",
                                           "exps", "argmax", "argmin", "ties"};
    tc_ctx *c = open_form(f);
    for (int op = 0; op < OPS; op++) {
        tc_tensor x = tc_from_data(c, data, TC_DIMS(rows, columns), TC_F32);
        tc_trace_begin(c, names[op]);
        tc_tensor y = reduce(x, op);
        tc_trace_end(c);
        tc_read(y, out + op * rows, (size_t)rows * sizeof *out);
    }
    int kernels = tc_region_kernels(c, "sum");
    CHECK_EQ(tc_error(c), TC_OK);
    tc_close(c);
    return kernels;
}

static int same_bits(float a, float b) {
    return !memcmp(&a, &b, sizeof a) || (a != a && b != b);
}

static void run_size(int64_t rows, int64_t columns, int nan_too, int kernels) {
    float *data = (float *)malloc((size_t)(rows * columns) * sizeof *data);
    float out[FORMS][OPS * 8];
    REQUIRE(data);
    fill(data, rows * columns, nan_too);
    for (int i = 0; i < FORMS; i++) {
        int took = run_form(&forms[i], data, rows, columns, out[i]);
        CHECK_EQ(took, *forms[i].passes_off ? 1 : kernels);
        for (int k = 0; k < OPS * rows; k++)
            if (!same_bits(out[0][k], out[i][k]))
                FAIL("op %d of [%d, %d], form %d: %a, not %a", k / (int)rows, (int)rows,
                     (int)columns, i, (double)out[i][k], (double)out[0][k]);
    }
    free(data);
}

TEST(whole_chunks) { run_size(1, CHUNK * 9, 0, 2); }
TEST(two_rows) { run_size(2, CHUNK * 8, 0, 2); }
TEST(more_chunks_than_lanes) { run_size(1, CHUNK * 70, 0, 2); }
TEST(last_chunk_is_filled_up) { run_size(1, CHUNK * 64 + 5, 0, 2); }
TEST(nan_wins) { run_size(1, CHUNK * 9, 1, 2); }
TEST(too_short_to_split) { run_size(1, CHUNK * 7, 0, 1); }
TEST(few_chunks_with_a_rest) { run_size(1, CHUNK * 9 + 1, 0, 1); }
TEST(enough_rows) { run_size(4, CHUNK * 8, 0, 1); }
