// Gradients of a layer's weight and bias on a device: where the device brings the product's operands by itself, threads of it sum
// the left one, too. Values come from plain C in double precision; two runs have the same bits.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"
#include "tools/cuda_near.h"

typedef struct size {
    int64_t k, m, n; // x is [k, m], g is [k, n]: the result x^T g is [m, n]
    tc_dtype dtype;
    int kernels; // 0 = any number
} size;

// Tiles that are ragged in every way, one and several beside each other; k that is no whole step. Rows that begin at any
// element are laid out before, and few of them are read once.
static const size sizes[] = {{200, 192, 520, TC_BF16, 1},
                             {65, 136, 72, TC_F16, 1},
                             {96, 130, 77, TC_BF16, 0},
                             {512, 8, 96, TC_F16, 0},
                             {33, 64, 64, TC_F32, 0}};

// The sums as they are, and what is made of them: added to what was there, and halves.
static void both(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(tc_transpose(in[0], 0, 1), in[1]);
    out[1] = tc_sum(tc_cast(in[0], TC_F32), 0);
}

static void more(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_cast(tc_matmul(tc_transpose(in[0], 0, 1), in[1]), TC_F32);
    tc_tensor sum = tc_sum(tc_cast(in[0], TC_F32), 0);
    out[1] = tc_add(in[2], tc_mul_s(sum, 0.5));
}

// In the other order, and one that nobody can have with the product: squares.
static void first(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[1] = tc_sum(tc_cast(in[0], TC_F32), 0);
    out[0] = tc_matmul(tc_transpose(in[0], 0, 1), in[1]);
}

static void squares(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_matmul(tc_transpose(in[0], 0, 1), in[1]);
    out[1] = tc_sum(tc_square(tc_cast(in[0], TC_F32)), 0);
}

typedef struct way {
    const char *name;
    tc_body body;
    double scale, before; // of sums: scale * sum + before * what was there
    int together;         // in one kernel, where sizes say so
} way;

static const way ways[] = {{"both", both, 1, 0, 1},
                           {"more", more, 0.5, 1, 1},
                           {"first", first, 1, 0, 1},
                           {"squares", squares, 1, 0, 0}};

static void expect(const size *z, const way *w, const double *x, const double *g,
                   const double *before, double *product, double *sum) {
    for (int64_t r = 0; r < z->m; r++) {
        double all = 0;
        for (int64_t k = 0; k < z->k; k++) {
            double v = x[k * z->m + r];
            all += w->body == squares ? v * v : v;
        }
        sum[r] = w->scale * all + w->before * before[r];
        for (int64_t c = 0; c < z->n; c++) {
            double p = 0;
            for (int64_t k = 0; k < z->k; k++) p += x[k * z->m + r] * g[k * z->n + c];
            product[r * z->n + c] = p;
        }
    }
}

static void check_way(tc_ctx *tc, const size *z, const way *w) {
    int64_t nx = z->k * z->m, ng = z->k * z->n, np = z->m * z->n;
    double *v = (double *)calloc((size_t)(nx + ng + np + 2 * z->m), sizeof *v);
    double *x = v, *g = x + nx, *product = g + ng, *before = product + np,
           *sum = before + z->m, near = z->dtype == TC_BF16 ? 4e-3 : 5e-4;
    tc_tensor in[3], out[2], again[2];
    REQUIRE(v != NULL);
    in[0] = there(tc, TC_DIMS(z->k, z->m), 1, z->dtype, x);
    in[1] = there(tc, TC_DIMS(z->k, z->n), 2, z->dtype, g);
    in[2] = there(tc, TC_DIMS(z->m), 3, TC_F32, before);
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF;
    tc_fn *f = tc_compile(tc, w->body, NULL, 0, &o);
    uint64_t made = tc_stats_get(tc).kernels_made;
    REQUIRE(tc_call(f, in, 3, out, 2) == TC_OK || FAIL("%s", tc_error_text(tc)));
    made = tc_stats_get(tc).kernels_made - made;
    CHECK(!z->kernels || made == (uint64_t)(w->together ? z->kernels : z->kernels + 1) ||
          FAIL("%s, %d x %d x %d: %d kernels", w->name, (int)z->m, (int)z->n, (int)z->k,
               (int)made));
    REQUIRE(tc_call(f, in, 3, again, 2) == TC_OK || FAIL("%s", tc_error_text(tc)));
    expect(z, w, x, g, before, product, sum);
    double e[] = {apart(out[0], product, np), apart(out[1], sum, z->m)};
    CHECK(e[0] < near || FAIL("%s, %d x %d x %d: products %g apart", w->name, (int)z->m,
                              (int)z->n, (int)z->k, e[0]));
    CHECK(e[1] < 1e-6 || FAIL("%s, %d x %d x %d: sums %g apart", w->name, (int)z->m,
                              (int)z->n, (int)z->k, e[1]));
    size_t each = w->body == more || z->dtype == TC_F32 ? 4 : 2;
    check_same(out[0], again[0], (size_t)np * each);
    check_same(out[1], again[1], (size_t)z->m * 4);
    free(v);
}

TEST(totals) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < (i ? 1 : sizeof ways / sizeof ways[0]); k++) {
            tc_ctx *tc = tc_open(NULL);
            if (!open_device(tc)) return;
            check_way(tc, &sizes[i], &ways[k]);
            tc_close(tc);
            check_device_closed();
        }
}
