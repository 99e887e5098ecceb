// Ops alone: each run eagerly, by the interpreter, and as a region of its own, compiled. Same context, same
// threads. What an op costs that nobody fuses should not depend much on which it is.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { ROUNDS = 5 };

// Operands: a large vector x and y, a matrix m [1024, 1024] and its halves, images [8, 16, 56, 56], indices.
typedef struct operands {
    tc_ctx *tc;
    tc_tensor x, y, mask, m, half, row, q, images, filters, taps, wide, bytes, rows, places,
        one;
} operands;

#define OPS(X)                                                                             \
    X(add, tc_add(o->x, o->y))                                                             \
    X(add_row, tc_add(o->m, o->row))                                                       \
    X(add_half, tc_add(o->half, o->half))                                                  \
    X(add_bytes, tc_add(o->bytes, o->bytes))                                               \
    X(add_s, tc_add_s(o->x, 2))                                                            \
    X(div, tc_div(o->x, o->y))                                                             \
    X(floor_divide, tc_floor_divide(o->x, o->y))                                           \
    X(remainder, tc_remainder(o->x, o->y))                                                 \
    X(pow, tc_pow(o->x, o->y))                                                             \
    X(pow_s, tc_pow_s(o->x, 3))                                                            \
    X(maximum, tc_maximum(o->x, o->y))                                                     \
    X(lt, tc_lt(o->x, o->y))                                                               \
    X(where, tc_where(o->mask, o->x, o->y))                                                \
    X(logical_and, tc_logical_and(o->mask, o->mask))                                       \
    X(exp, tc_exp(o->x))                                                                   \
    X(log, tc_log(o->x))                                                                   \
    X(sin, tc_sin(o->x))                                                                   \
    X(tanh, tc_tanh(o->x))                                                                 \
    X(gelu, tc_gelu(o->x))                                                                 \
    X(sqrt, tc_sqrt(o->x))                                                                 \
    X(floor, tc_floor(o->x))                                                               \
    X(clamp, tc_clamp(o->x, -1, 1))                                                        \
    X(to_half, tc_cast(o->x, TC_F16))                                                      \
    X(to_bf16, tc_cast(o->x, TC_BF16))                                                     \
    X(from_bf16, tc_cast(o->half, TC_F32))                                                 \
    X(to_u8, tc_to_u8(o->x))                                                               \
    X(from_u8, tc_to_f32(o->bytes))                                                        \
    X(to_i64, tc_to_i64(o->x))                                                             \
    X(full, tc_full(o->tc, TC_DIMS(1 << 20), 1, TC_F32))                                   \
    X(arange, tc_arange(o->tc, 0, 1 << 20, 1, TC_F32))                                     \
    X(rand, tc_rand(o->tc, TC_DIMS(1 << 20), TC_F32))                                      \
    X(randn, tc_randn(o->tc, TC_DIMS(1 << 18), TC_F32))                                    \
    X(clone, tc_clone(o->x))                                                               \
    X(clone_transposed, tc_clone(tc_t(o->m)))                                              \
    X(clone_channels_last, tc_clone(tc_permute(o->images, TC_DIMS(0, 2, 3, 1))))           \
    X(clone_sliced, tc_clone(tc_slice(o->m, 1, 0, TC_END, 2)))                             \
    X(flip, tc_clone(tc_flip(o->m, TC_DIMS(1))))                                           \
    X(roll, tc_roll(o->m, 5, 1))                                                           \
    X(pad, tc_pad(o->images, TC_DIMS(0, 0, 1, 1), TC_DIMS(0, 0, 1, 1), 0))                 \
    X(pad_with,                                                                            \
      tc_pad_with(o->images, TC_DIMS(0, 0, 1, 1), TC_DIMS(0, 0, 1, 1), TC_PAD_REFLECT))    \
    X(cat, tc_cat((tc_tensor[]){o->m, o->m}, 2, 1))                                        \
    X(stack, tc_stack((tc_tensor[]){o->x, o->y}, 2, 1))                                    \
    X(tile, tc_tile(o->row, TC_DIMS(256, 1)))                                              \
    X(repeat_interleave, tc_repeat_interleave(o->row, 256, 0))                             \
    X(unfold, tc_clone(tc_unfold(o->x, 0, 16, 16)))                                        \
    X(unfold_overlapping, tc_unfold(o->row, 0, 64, 1))                                     \
    X(tril, tc_tril(o->m, 0))                                                              \
    X(eye, tc_eye(o->tc, 1024, 1024, TC_F32))                                              \
    X(masked_fill, tc_masked_fill(o->x, o->mask, 0))                                       \
    X(one_hot, tc_one_hot(o->rows, 256))                                                   \
    X(take_rows, tc_take(o->m, o->rows, 0))                                                \
    X(take_columns, tc_take(o->m, o->rows, 1))                                             \
    X(gather, tc_gather(o->m, 1, o->places))                                               \
    X(scatter, tc_scatter(o->m, 1, o->places, o->m))                                       \
    X(scatter_add, tc_scatter_add(o->m, 1, o->places, o->m))                               \
    X(index_add, tc_index_add(o->m, 0, o->rows, o->m))                                     \
    X(cumsum, tc_cumsum(o->m, 1))                                                          \
    X(cumsum_columns, tc_cumsum(o->m, 0))                                                  \
    X(sort, tc_argsort(o->q, 1, 0))                                                        \
    X(sum, tc_sum(o->m, 1))                                                                \
    X(sum_columns, tc_sum(o->m, 0))                                                        \
    X(sum_all, tc_sum_all(o->x))                                                           \
    X(sum_half, tc_sum(o->half, 1))                                                        \
    X(sum_bytes, tc_sum_all(o->bytes))                                                     \
    X(mean, tc_mean(o->m, 1))                                                              \
    X(amax, tc_amax(o->m, 1))                                                              \
    X(amax_columns, tc_amax(o->m, 0))                                                      \
    X(argmax, tc_argmax(o->m, 1))                                                          \
    X(any, tc_any_all(o->mask))                                                            \
    X(var, tc_var(o->m, 1, 1))                                                             \
    X(norm, tc_norm(o->m, 1, 2))                                                           \
    X(logsumexp, tc_logsumexp(o->m, 1))                                                    \
    X(softmax, tc_softmax(o->m, 1))                                                        \
    X(softmax_columns, tc_softmax(o->m, 0))                                                \
    X(softmax_half, tc_softmax(o->half, 1))                                                \
    X(log_softmax, tc_log_softmax(o->m, 1))                                                \
    X(layer_norm, tc_layer_norm(o->m, o->row, o->row, 1e-5))                               \
    X(rms_norm, tc_rms_norm(o->m, o->row, 1e-5))                                           \
    X(group_norm, tc_group_norm(o->images, 4, tc_null(), tc_null(), 1e-5))                 \
    X(normalize, tc_normalize(o->m, 2, 1, 1e-8))                                           \
    X(cosine_similarity, tc_cosine_similarity(o->m, o->m, 1, 1e-8))                        \
    X(dropout, tc_dropout(o->x, 0.1))                                                      \
    X(mse_loss, tc_mse_loss(o->x, o->y))                                                   \
    X(cross_entropy, tc_cross_entropy(o->m, o->rows))                                      \
    X(matmul, tc_matmul(o->q, o->q))                                                       \
    X(matmul_transposed, tc_matmul(o->q, tc_t(o->q)))                                      \
    X(matmul_row, tc_matmul(tc_reshape(o->row, TC_DIMS(1, 1024)), o->m))                   \
    X(matmul_half, tc_matmul(tc_cast(o->q, TC_BF16), tc_cast(o->q, TC_BF16)))              \
    X(linear, tc_linear(o->q, o->q, tc_slice(o->row, 0, 0, 256, 1)))                       \
    X(attention, tc_scaled_dot_product_attention(o->q, o->q, o->q, tc_null(), 1, 0))       \
    X(conv2d, tc_conv2d(o->images, o->filters, tc_null(), 1, 1, 1, 1))                     \
    X(conv2d_strided, tc_conv2d(o->images, o->filters, tc_null(), 2, 1, 1, 1))             \
    X(conv2d_pointwise, tc_conv2d(o->images, o->wide, tc_null(), 1, 0, 1, 1))              \
    X(conv2d_depthwise, tc_conv2d(o->images, o->taps, tc_null(), 1, 1, 1, 16))             \
    X(conv2d_constant, tc_conv2d(o->images, o->one, tc_null(), 1, 1, 1, 16))               \
    X(avg_pool2d, tc_avg_pool2d(o->images, 2, 2, 0))                                       \
    X(max_pool2d, tc_max_pool2d(o->images, 3, 2, 1))                                       \
    X(max_pool2d_large, tc_max_pool2d(o->images, 9, 9, 0))                                 \
    X(resize_nearest, tc_interpolate(o->images, TC_DIMS(112, 112), TC_NEAREST))            \
    X(resize_linear, tc_interpolate(o->images, TC_DIMS(112, 112), TC_LINEAR))

#define FUNCTION(name, call)                                                               \
    static tc_tensor name##_op(const operands *o) { return call; }
OPS(FUNCTION)

typedef struct job {
    const operands *o;
    const char *name;
    tc_tensor (*op)(const operands *o);
} job;

static void compiled(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->o->tc, j->name);
    j->op(j->o);
    tc_trace_end(j->o->tc);
}

static void eager(void *user) {
    job *j = (job *)user;
    tc_scope_begin(j->o->tc);
    j->op(j->o);
    tc_scope_end(j->o->tc);
}

static void fill(operands *o, tc_ctx *tc) {
    static float ones[16 * 9];
    for (int i = 0; i < 16 * 9; i++) ones[i] = (float)(1 + i % 5);
    o->tc = tc;
    o->x = bench_randn(tc, TC_DIMS(1 << 20), 1),
    o->y = bench_randn(tc, TC_DIMS(1 << 20), 2);
    o->mask = tc_gt_s(o->x, 0), o->m = tc_reshape(o->x, TC_DIMS(1024, 1024));
    o->half = tc_cast(o->m, TC_BF16), o->row = bench_randn(tc, TC_DIMS(1024), 3);
    o->q = bench_randn(tc, TC_DIMS(256, 256), 4);
    o->images = bench_randn(tc, TC_DIMS(8, 16, 56, 56), 5);
    o->filters = bench_randn(tc, TC_DIMS(32, 16, 3, 3), 6);
    o->wide = bench_randn(tc, TC_DIMS(32, 16, 1, 1), 7);
    o->taps = bench_randn(tc, TC_DIMS(16, 1, 3, 3), 8);
    o->one = tc_const(tc, ones, TC_DIMS(16, 1, 3, 3), TC_F32);
    o->bytes = tc_randint(tc, 0, 255, TC_DIMS(1 << 20), TC_U8);
    o->rows = tc_randint(tc, 0, 256, TC_DIMS(1024), TC_I64);
    o->places = tc_randint(tc, 0, 1024, TC_DIMS(1024, 1024), TC_I64);
}

int main(int n, char **names) {
    tc_ctx *tc = bench_open(1);
    operands o;
    int missed = 0;
    fill(&o, tc);
    bench_head("compiled", "eager", "times");
#define JOB(name, call) {&o, #name, name##_op},
    job jobs[] = {OPS(JOB)};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        int wanted = n < 2;
        for (int k = 1; k < n; k++) wanted |= strstr(jobs[i].name, names[k]) != NULL;
        if (!wanted) continue;
        bench_side side[2] = {{compiled, &jobs[i], 0}, {eager, &jobs[i], 0}};
        bench_interleave(side, 2, ROUNDS);
        bench_check(tc);
        missed += bench_row(jobs[i].name, side[0].ns, side[1].ns, side[1].ns / side[0].ns,
                            BENCH_AT_MOST, 5);
    }
    tc_close(tc);
    return bench_status(missed);
}
