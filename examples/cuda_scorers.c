// Three scorers on the GPU: entropy of rows, salience of images, attention scores of tokens. The same
// functions run on the CPU, which checks their results; where there is no GPU, that is all.
//
// Build: cc -O2 -I. examples/cuda_scorers.c -o cuda_scorers -lm -lpthread -ldl
// Run:   ./cuda_scorers
// Prints for each scorer its kernels, the time of a call and what that is in bytes a second. Exit
// status 1 if GPU and CPU differ by more than rounding.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"
#include "tcompile_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 200 };

static void entropy(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor p = tc_softmax(in[0], -1);
    (void)tc, (void)user;
    out[0] = tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
}

// image [N, 3, H, W]: edges and local contrast of its luminance, 1 where they are strongest
static void salience(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const tc_tensor *sobel = (const tc_tensor *)user;
    tc_tensor red = tc_narrow(in[0], 1, 0, 1), green = tc_narrow(in[0], 1, 1, 1);
    tc_tensor gray = tc_add(tc_mul_s(red, 0.299), tc_mul_s(green, 0.587));
    gray = tc_add(gray, tc_mul_s(tc_narrow(in[0], 1, 2, 1), 0.114));
    tc_tensor gx = tc_conv2d(gray, sobel[0], tc_null(), 1, 1, 1, 1);
    tc_tensor gy = tc_conv2d(gray, sobel[1], tc_null(), 1, 1, 1, 1);
    tc_tensor edge = tc_sqrt(tc_add_s(tc_add(tc_mul(gx, gx), tc_mul(gy, gy)), 1e-12));
    tc_tensor s = tc_add(edge, tc_abs(tc_sub(gray, tc_avg_pool2d(gray, 7, 1, 3))));
    tc_tensor most = tc_amax_dims(s, TC_DIMS(1, 2, 3), TC_KEEPDIM);
    (void)tc;
    out[0] = tc_div(s, tc_add_s(most, 1e-6));
}

// query [N, 1, D], tokens [N, T, D]: softmax(q k^T / sqrt D)
static void attention(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    double scale = 1 / sqrt((double)tc_dim(in[0], -1));
    tc_tensor s = tc_matmul(in[0], tc_transpose(in[1], -2, -1));
    (void)tc, (void)user;
    out[0] = tc_softmax(tc_mul_s(s, scale), -1);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct scorer {
    const char *name;
    tc_body body;
    int inputs;
    tc_tensor in[2];       // on the CPU
    tc_tensor sobel[2][2]; // on the CPU, on the device
} scorer;

// The scorer's result on a device; its kernels and the seconds of a call.
static tc_tensor run(tc_ctx *tc, scorer *s, const char *device, uint64_t *kernels,
                     double *took) {
    tc_tensor in[2], out = tc_null();
    int there = device[1] == 'u'; // "cuda:0"
    for (int i = 0; i < s->inputs; i++) in[i] = tc_to(s->in[i], device);
    tc_fn *f = tc_compile(tc, s->body, s->sobel[there], sizeof s->sobel[0], NULL);
    tc_call(f, in, s->inputs, &out, 1);
    uint64_t before = tc_stats_get(tc).kernel_runs;
    tc_call(f, in, s->inputs, &out, 1);
    *kernels = tc_stats_get(tc).kernel_runs - before;
    tc_sync(tc);
    double start = seconds();
    for (int i = 0; i < (there ? CALLS : 1); i++) {
        tc_scope_begin(tc);
        tc_tensor again;
        tc_call(f, in, s->inputs, &again, 1);
        tc_scope_end(tc);
    }
    tc_sync(tc);
    *took = (seconds() - start) / (there ? CALLS : 1);
    return tc_to(out, "cpu");
}

static int score(tc_ctx *tc, scorer *s, int gpu) {
    uint64_t kernels;
    double took, off = 0, bytes = 0;
    tc_tensor here = run(tc, s, "cpu", &kernels, &took);
    for (int i = 0; i < s->inputs; i++) bytes += 4.0 * (double)tc_numel(s->in[i]);
    bytes += 4.0 * (double)tc_numel(here);
    printf("%-10s cpu     %llu kernel%s %9.1f us %8.1f GB/s\n", s->name,
           (unsigned long long)kernels, kernels == 1 ? " " : "s", took * 1e6,
           bytes / took / 1e9);
    if (!gpu) return 0;
    tc_tensor there = run(tc, s, "cuda:0", &kernels, &took);
    printf("%-10s cuda:0  %llu kernel%s %9.1f us %8.1f GB/s\n", s->name,
           (unsigned long long)kernels, kernels == 1 ? " " : "s", took * 1e6,
           bytes / took / 1e9);
    tc_tensor error = tc_abs(tc_sub(here, there));
    off = tc_item(tc_amax(tc_reshape(error, TC_DIMS(tc_numel(here))), 0));
    if (off < 1e-4) return 0;
    printf("%s differs by %g\n", s->name, off);
    return 1;
}

int main(void) {
    static const float sobel[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    int gpu = tc_cuda_open(tc, 0) == TC_OK, wrong = 0;
    if (!gpu) printf("on the CPU only: %s\n", tc_error_text(tc));
    tc_error_clear(tc);
    tc_tensor x = tc_const(tc, sobel, TC_DIMS(1, 1, 3, 3), TC_F32);
    tc_tensor image = tc_rand(tc, TC_DIMS(32, 3, 224, 224), TC_F32);
    scorer all[3] = {
        {"entropy", entropy, 1, {tc_randn(tc, TC_DIMS(32, 196, 768), TC_F32)}, {{{0}}}},
        {"salience", salience, 1, {image}, {{{0}}}},
        {"attention",
         attention,
         2,
         {tc_randn(tc, TC_DIMS(32, 1, 768), TC_F32),
          tc_randn(tc, TC_DIMS(32, 196, 768), TC_F32)},
         {{{0}}}},
    };
    static const float down[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    all[1].sobel[0][0] = x;
    all[1].sobel[0][1] = tc_const(tc, down, TC_DIMS(1, 1, 3, 3), TC_F32);
    for (int i = 0; gpu && i < 2; i++)
        all[1].sobel[1][i] = tc_to(all[1].sobel[0][i], "cuda:0");
    for (int i = 0; i < 3; i++) wrong |= score(tc, &all[i], gpu);
    if (tc_error(tc)) printf("%s\n", tc_error_text(tc));
    wrong |= tc_error(tc) != TC_OK;
    tc_close(tc);
    return wrong;
}
