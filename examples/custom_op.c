// Ops of your own between fused ones: sampling from a language model's logits, with top-k as a
// C function and a running sum as C text that is compiled with the other kernels.
//
// Build: cc -O2 -I. examples/custom_op.c -o custom_op -lm -lpthread -ldl
// Prints the token drawn for each row beside the one of plain C loops in double, the kernels of the
// region (five: the ops around ours are fused as ever) and what a host call inside it saw. Exit
// status 1 if a token differs.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 6, WORDS = 1000, K = 40 };

// ---- an op that is a function: 1 where an element is among the k largest of its row ----
static tc_status top_k_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)n_in;
    if (in->rank != 2 || in->dtype != TC_F32) return TC_E_SHAPE; // the call's error then
    out->dtype = TC_BOOL; // *out began as a copy of *in
    return TC_OK;
}

static tc_status top_k(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const float *x = (const float *)in->data;
    uint8_t *y = (uint8_t *)out->data;
    int64_t rows = in->spec.dims[0], columns = in->spec.dims[1];
    (void)n_in;
    for (int64_t r = 0; r < rows; r++, x += columns, y += columns) {
        memset(y, 0, (size_t)columns);
        for (int i = 0; i < *(const int *)user && i < columns; i++) {
            int64_t best = -1;
            for (int64_t c = 0; c < columns; c++)
                if (!y[c] && (best < 0 || x[c] > x[best])) best = c;
            y[best] = 1;
        }
    }
    return TC_OK;
}

// ---- an op that is text: no run, no shape (its result is as its input) ----
static const char cumsum[] =
    "tc_status cumsum(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {\n"
    "    const float *x = in->data;\n"
    "    float *y = out->data;\n"
    "    int64_t rows = in->spec.dims[0], columns = in->spec.dims[1];\n"
    "    for (int64_t r = 0; r < rows; r++, x += columns, y += columns) {\n"
    "        float sum = 0;\n"
    "        for (int64_t c = 0; c < columns; c++) y[c] = sum += x[c];\n"
    "    }\n"
    "    return TC_OK;\n"
    "}\n";

static int register_ops(tc_ctx *tc) {
    static int k = K;
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "top_k", op.run = top_k, op.shape = top_k_shape, op.user = &k;
    if (!tc_register_op(tc, &op)) return 0;
    memset(&op, 0, sizeof op);
    op.name = "cumsum", op.c_source = cumsum;
    return tc_register_op(tc, &op) != 0;
}

// ---- the region ----
static tc_status report(void *user, const tc_buffer *in, int n_in) {
    const float *mass = (const float *)in->data;
    printf("visit %d: the best word of row 0 has probability %.4f\n", *(int *)user,
           (double)mass[0]);
    return (void)n_in, TC_OK;
}

static tc_tensor sample(tc_ctx *tc, tc_tensor logits, tc_tensor u, int *visit) {
    tc_trace_begin(tc, "sample");
    tc_tensor x = tc_div_s(logits, 0.8);
    tc_tensor mask = tc_custom(tc, tc_op_named(tc, "top_k"), &x, 1);
    tc_tensor p = tc_softmax(tc_masked_fill(x, tc_logical_not(mask), -INFINITY), -1);
    tc_tensor below = tc_custom(tc, tc_op_named(tc, "cumsum"), &p, 1);
    tc_tensor token = tc_sum(tc_cast(tc_lt(below, u), TC_I64), -1);
    if (visit) { // a graph break: everything that `top` needs runs before
        tc_tensor top = tc_amax(p, -1);
        tc_host_call(tc, report, visit, &top, 1);
    }
    tc_trace_end(tc);
    return token;
}

// The same in double: the k-th largest by counting, no sort.
static int64_t reference(const float *x, double u) {
    double sum = 0, at = 0;
    float largest = x[0];
    for (int c = 0; c < WORDS; c++) largest = x[c] > largest ? x[c] : largest;
    for (int turn = 0; turn < 2; turn++) {
        for (int c = 0; c < WORDS; c++) {
            int larger = 0;
            for (int i = 0; i < WORDS; i++)
                larger += x[i] > x[c] || (x[i] == x[c] && i < c);
            if (larger >= K) continue;
            double e = exp(((double)x[c] - (double)largest) / 0.8);
            if (!turn) sum += e;
            if (turn && (at += e / sum) >= u) return c;
        }
    }
    return WORDS;
}

int main(void) {
    static float logits[ROWS * WORDS];
    float u[ROWS];
    int64_t token[ROWS];
    int ok = 1;
    tc_ctx *tc = tc_open(NULL);
    if (!tc || !register_ops(tc)) return 1;
    for (int i = 0; i < ROWS * WORDS; i++)
        logits[i] = (float)(4 * sin(i * 12.9898) + 3 * sin(i * 0.7311));
    for (int r = 0; r < ROWS; r++) u[r] = (float)(r + 0.37) / ROWS;
    tc_tensor x = tc_from_data(tc, logits, TC_DIMS(ROWS, WORDS), TC_F32);
    tc_tensor limit = tc_from_data(tc, u, TC_DIMS(ROWS, 1), TC_F32);

    tc_tensor t = sample(tc, x, limit, NULL);
    if (tc_read(t, token, sizeof token)) {
        printf("%s\n", tc_error_text(tc));
        return 1;
    }
    for (int r = 0; r < ROWS; r++) {
        int64_t want = reference(logits + r * WORDS, (double)u[r]);
        printf("row %d: token %3d, by plain loops %3d\n", r, (int)token[r], (int)want);
        ok &= token[r] == want;
    }
    printf("kernels: %d\n", tc_region_kernels(tc, "sample"));
    for (int visit = 1; visit <= 2; visit++) sample(tc, x, limit, &visit);
    ok &= !tc_error(tc);
    tc_close(tc);
    return !ok;
}
