// Gradients of public ops against differences of what they give in f64: movement, gathers, reductions, scans,
// products, composite ops. Rows of arithmetic are in tests/ops/grad.c; here they come in chains. Each case runs with its
// operands as they lie and turned in memory, by the interpreter, eagerly and compiled, which must agree to the bit, in f32,
// and, where the function is smooth, once more for the second derivative.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { MOST_IN = 4, MOST = 160 };

typedef struct operand {
    int64_t size[4]; // 0 = no more dimensions
    double low, high;
} operand;

typedef struct sample {
    const char *name;
    tc_tensor (*f)(tc_ctx *tc, const tc_tensor *in);
    operand in[MOST_IN];
    int smooth; // it has a second derivative that differences show
} sample;

// ---- what the cases share ----

// Indices, made once: a constant of each visit would be a program of each.
static struct {
    tc_dims d;
    int64_t below;
    tc_tensor t;
} known[32];
static int n_known;

static tc_tensor index_of(tc_ctx *tc, tc_dims d, int64_t below) {
    static const int64_t places[] = {2, 0, 1, 2, 1, 0, 0, 2, 1, 1, 2, 0, 2, 2, 0, 1};
    int64_t at[16], n = 1;
    for (int i = 0; i < n_known; i++)
        if (known[i].below == below && !memcmp(&known[i].d, &d, sizeof d))
            return known[i].t;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    for (int64_t i = 0; i < n; i++) at[i] = places[i % 16] % below;
    known[n_known].d = d, known[n_known].below = below;
    return known[n_known++].t = tc_keep(tc_const(tc, at, d, TC_I64));
}

static tc_tensor sorted(tc_tensor x, int descending) {
    tc_tensor values, indices;
    tc_sort(x, 1, descending, &values, &indices);
    return tc_mul_s(values, 2);
}

static tc_tensor largest(tc_tensor x) {
    tc_tensor values, indices;
    tc_topk(x, 2, 1, 1, &values, &indices);
    return tc_square(values);
}

static tc_tensor halves(tc_tensor x) {
    tc_tensor part[2];
    tc_split(x, 2, 1, part, 2);
    return tc_mul(part[0], part[1]);
}

// Writes in place: a new value of all of x, then one of a view of it.
static tc_tensor written(tc_tensor x) {
    tc_tensor y = tc_clone(x);
    tc_mul_s_(y, 3);
    tc_tensor row = tc_select(y, 0, 1);
    tc_copy_(row, tc_square(row));
    return tc_mul(y, x);
}

static tc_tensor stretched(tc_tensor x, tc_tensor w, int ceil_to) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    o.stride[0] = 2, o.stride[1] = 1, o.padding[0] = ceil_to, o.padding[1] = 1;
    o.dilation[0] = 1, o.dilation[1] = 2, o.groups = 2;
    return tc_conv2d_with(x, w, tc_null(), &o);
}

static tc_tensor spread(tc_tensor x, tc_tensor w) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    o.stride[0] = 2, o.stride[1] = 3, o.dilation[1] = 2, o.padding[0] = 1, o.groups = 2;
    o.output_padding[0] = 1;
    return tc_conv_transpose2d_with(x, w, tc_null(), &o);
}

// Weights of two rows in depth.
static tc_tensor deep_spread(tc_tensor x, tc_tensor w, tc_tensor bias, int stride,
                             int groups) {
    tc_tensor both[2] = {w, tc_mul_s(w, 2)};
    return tc_conv_transpose3d(x, tc_stack(both, 2, 2), bias, stride, groups == 1,
                               groups == 1, 1, groups);
}

#define S(...)                                                                             \
    { {__VA_ARGS__}, -2, 2 }
#define P(...)                                                                             \
    { {__VA_ARGS__}, 0.3, 2 }
#define POSITIVE                                                                           \
    { {0}, 0.5, 2 }
#define A      in[0]
#define B      in[1]
#define C      in[2]
#define SMOOTH 1
#define KINKS  0

// name, smooth, what it gives of its operands, the operands
#define CASES(X)                                                                           \
    X(chain, SMOOTH, tc_tanh(tc_mul(tc_exp(A), tc_sin(B))), S(2, 3), S(2, 3))              \
    X(broadcast, SMOOTH, tc_mul(tc_add(A, B), C), S(2, 3), S(3), S(2, 1))                  \
    X(broadcast_scalar, SMOOTH, tc_div(A, B), S(2, 3), POSITIVE)                           \
    X(same_twice, SMOOTH, tc_mul(A, tc_mul(A, A)), S(2, 3))                                \
    X(scalars, SMOOTH, tc_rdiv_s(tc_pow_s(tc_add_s(A, 3), 2.5), 2), P(2, 3))               \
    X(power, SMOOTH, tc_pow(A, B), P(2, 3), S(2, 3))                                       \
    X(rpow, SMOOTH, tc_rpow_s(A, 1.7), S(2, 3))                                            \
    X(where, KINKS, tc_where(tc_gt_s(A, 0.1), tc_square(A), B), S(2, 3), S(2, 3))          \
    X(maximum, KINKS, tc_maximum(A, B), S(2, 3), S(3))                                     \
    X(clamp, KINKS, tc_clamp(A, -1, 0.7), S(2, 3))                                         \
    X(masked_fill, KINKS, tc_masked_fill(A, tc_lt_s(A, 0), 4), S(2, 3))                    \
    X(floor, KINKS, tc_mul(tc_floor(A), B), S(2, 3), S(2, 3))                              \
    X(remainder, KINKS, tc_remainder(A, B), S(2, 3), P(2, 3))                              \
    X(reshape, SMOOTH, tc_square(tc_reshape(A, TC_DIMS(3, 2))), S(2, 3))                   \
    X(permute, SMOOTH, tc_mul(tc_permute(A, TC_DIMS(2, 0, 1)), B), S(2, 3, 2), S(2, 2, 3)) \
    X(transpose, SMOOTH, tc_mul(tc_t(A), B), S(2, 3), S(3, 2))                             \
    X(expand, SMOOTH, tc_mul(tc_expand(A, TC_DIMS(4, 2, 3)), B), S(2, 1), S(4, 2, 3))      \
    X(slice, SMOOTH, tc_square(tc_slice(A, 1, 1, 6, 2)), S(2, 7))                          \
    X(slice_back, SMOOTH, tc_square(tc_slice(A, 1, 5, 0, -2)), S(2, 7))                    \
    X(slice_none, SMOOTH, tc_sum_all(tc_slice(A, 1, 3, 3, 1)), S(2, 7))                    \
    X(select, SMOOTH, tc_square(tc_select(A, 1, -1)), S(2, 3, 2))                          \
    X(narrow, SMOOTH, tc_square(tc_narrow(A, 1, 1, 2)), S(2, 4))                           \
    X(flip, SMOOTH, tc_mul(tc_flip(A, TC_DIMS(0, 1)), B), S(2, 3), S(2, 3))                \
    X(roll, SMOOTH, tc_mul(tc_roll(A, 2, 1), B), S(2, 5), S(2, 5))                         \
    X(pad, SMOOTH, tc_square(tc_pad(A, TC_DIMS(1, 2), TC_DIMS(0, 1), 0.5)), S(2, 3))       \
    X(pad_less, SMOOTH, tc_square(tc_pad(A, TC_DIMS(-1, 2), TC_DIMS(1, -2), 0)), S(3, 4))  \
    X(pad_edge, SMOOTH,                                                                    \
      tc_square(tc_pad_with(A, TC_DIMS(0, 2), TC_DIMS(0, 1), TC_PAD_REPLICATE)), S(2, 4))  \
    X(pad_reflect, SMOOTH,                                                                 \
      tc_square(tc_pad_with(A, TC_DIMS(0, 2), TC_DIMS(0, 1), TC_PAD_REFLECT)), S(2, 4))    \
    X(cat, SMOOTH, tc_square(tc_cat((tc_tensor[]){A, B, A}, 3, 1)), S(2, 3), S(2, 2))      \
    X(stack, SMOOTH, tc_square(tc_stack((tc_tensor[]){A, B}, 2, 1)), S(2, 3), S(2, 3))     \
    X(split, SMOOTH, halves(A), S(2, 4))                                                   \
    X(tile, SMOOTH, tc_mul(tc_tile(A, TC_DIMS(2, 2)), B), S(2, 3), S(4, 6))                \
    X(repeat_interleave, SMOOTH, tc_mul(tc_repeat_interleave(A, 2, 1), B), S(2, 3),        \
      S(2, 6))                                                                             \
    X(unfold, SMOOTH, tc_mul(tc_unfold(A, 1, 3, 1), B), S(2, 6), S(2, 4, 3))               \
    X(unfold_apart, SMOOTH, tc_square(tc_unfold(A, 1, 2, 3)), S(2, 8))                     \
    X(unfold_step, SMOOTH, tc_square(tc_unfold(A, 0, 3, 2)), S(8, 2))                      \
    X(tril, SMOOTH, tc_square(tc_tril(A, 0)), S(3, 3))                                     \
    X(in_place, SMOOTH, written(A), S(3, 2))                                               \
    X(take, SMOOTH, tc_square(tc_take(A, index_of(tc, TC_DIMS(2, 3), 3), 1)), S(2, 3, 2))  \
    X(embedding, SMOOTH, tc_mul(tc_embedding(A, index_of(tc, TC_DIMS(5), 3)), B), S(3, 4), \
      S(5, 4))                                                                             \
    X(gather, SMOOTH, tc_square(tc_gather(A, 1, index_of(tc, TC_DIMS(2, 4), 3))), S(2, 3)) \
    X(gather_one, SMOOTH, tc_square(tc_gather(A, 1, index_of(tc, TC_DIMS(3, 1), 3))),      \
      S(3, 3))                                                                             \
    X(gather_one_from_the_end, SMOOTH,                                                     \
      tc_square(tc_gather(A, 1, tc_sub_s(index_of(tc, TC_DIMS(3, 1), 3), 1))), S(3, 3))    \
    X(gather_rows, SMOOTH, tc_square(tc_gather(A, 0, index_of(tc, TC_DIMS(4, 3), 3))),     \
      S(3, 3))                                                                             \
    X(scatter, SMOOTH, tc_square(tc_scatter(A, 1, index_of(tc, TC_DIMS(2, 2), 3), B)),     \
      S(2, 3), S(2, 2))                                                                    \
    X(scatter_add, SMOOTH,                                                                 \
      tc_square(tc_scatter_add(A, 0, index_of(tc, TC_DIMS(4, 3), 3), B)), S(3, 3),         \
      S(4, 3))                                                                             \
    X(index_add, SMOOTH, tc_square(tc_index_add(A, 0, index_of(tc, TC_DIMS(4), 3), B)),    \
      S(3, 2), S(4, 2))                                                                    \
    X(sort, KINKS, tc_mul(sorted(A, 0), B), S(2, 4), S(2, 4))                              \
    X(sort_down, KINKS, tc_mul(sorted(A, 1), B), S(2, 4), S(2, 4))                         \
    X(topk, KINKS, largest(A), S(2, 4))                                                    \
    X(sum, SMOOTH, tc_square(tc_sum(A, 0)), S(2, 3))                                       \
    X(sum_dims, SMOOTH, tc_square(tc_sum_dims(A, TC_DIMS(0, 2), TC_KEEPDIM)), S(2, 3, 2))  \
    X(mean, SMOOTH, tc_square(tc_mean(A, 1)), S(2, 3))                                     \
    X(prod, SMOOTH, tc_prod(A, 1), S(2, 4))                                                \
    X(prod_dims, SMOOTH, tc_prod_dims(A, TC_DIMS(0, 2), 0), S(2, 3, 2))                    \
    X(prod_one, SMOOTH, tc_prod(A, 1), S(3, 1))                                            \
    X(amax, KINKS, tc_square(tc_amax(A, 1)), S(2, 4))                                      \
    X(amin, KINKS, tc_square(tc_amin_dims(A, TC_DIMS(0), TC_KEEPDIM)), S(4, 2))            \
    X(var, SMOOTH, tc_var(A, 1, 1), S(2, 4))                                               \
    X(std, SMOOTH, tc_std(A, 0, 0), S(4, 2))                                               \
    X(norm, SMOOTH, tc_norm(A, 1, 2), S(2, 4))                                             \
    X(norm_1, KINKS, tc_norm(A, 1, 1), S(2, 4))                                            \
    X(norm_3, SMOOTH, tc_norm(A, 1, 3), P(2, 4))                                           \
    X(logsumexp, SMOOTH, tc_logsumexp(A, 1), S(2, 4))                                      \
    X(cumsum, SMOOTH, tc_square(tc_cumsum(A, 1)), S(2, 4))                                 \
    X(cumsum_columns, SMOOTH, tc_square(tc_cumsum(A, 0)), S(4, 2))                         \
    X(cumprod, SMOOTH, tc_cumprod(A, 1), P(2, 4))                                          \
    X(matmul, SMOOTH, tc_matmul(A, B), S(2, 3), S(3, 4))                                   \
    X(matmul_batch, SMOOTH, tc_matmul(A, B), S(2, 2, 3), S(3, 2))                          \
    X(matmul_vector, SMOOTH, tc_matmul(A, B), S(3), S(3, 2))                               \
    X(linear, SMOOTH, tc_tanh(tc_linear(A, B, C)), S(3, 2), S(4, 2), S(4))                 \
    X(addmm, SMOOTH, tc_addmm(A, B, C, 0.5, 2), S(3), S(2, 2), S(2, 3))                    \
    X(bmm, SMOOTH, tc_bmm(A, B), S(2, 2, 3), S(2, 3, 2))                                   \
    X(dot, SMOOTH, tc_square(tc_dot(A, B)), S(4), S(4))                                    \
    X(outer, SMOOTH, tc_outer(A, B), S(3), S(2))                                           \
    X(conv1d, SMOOTH, tc_conv1d(A, B, C, 2, 1, 1, 1), S(2, 2, 5), S(3, 2, 3), S(3))        \
    X(conv2d, SMOOTH, tc_conv2d(A, B, C, 1, 1, 1, 1), S(1, 2, 4, 4), S(2, 2, 3, 3), S(2))  \
    X(conv2d_strided, SMOOTH, tc_conv2d(A, B, tc_null(), 2, 1, 1, 1), S(1, 2, 5, 4),       \
      S(2, 2, 3, 3))                                                                       \
    X(conv2d_groups, SMOOTH, stretched(A, B, 1), S(1, 2, 4, 5), S(4, 1, 3, 2))             \
    X(conv_transpose1d, SMOOTH, tc_conv_transpose1d(A, B, C, 2, 1, 1, 1, 1), S(2, 2, 4),   \
      S(2, 3, 3), S(3))                                                                    \
    X(conv_transpose2d, SMOOTH, tc_conv_transpose2d(A, B, C, 2, 1, 0, 1, 1),               \
      S(1, 2, 3, 3), S(2, 2, 4, 4), S(2))                                                  \
    X(conv_transpose2d_with, SMOOTH, spread(A, B), S(1, 4, 3, 2), S(4, 1, 3, 2))           \
    X(conv_transpose3d, SMOOTH, deep_spread(A, B, C, 2, 1), S(2, 2, 1, 3), S(2, 2, 3, 2),  \
      S(2))                                                                                \
    X(conv_transpose3d_element, SMOOTH, deep_spread(A, B, tc_null(), 1, 2), S(4, 1, 1, 1), \
      S(4, 1, 2, 2))                                                                       \
    X(conv2d_rest, SMOOTH, tc_conv2d(A, B, tc_null(), 3, 1, 1, 1), S(1, 2, 6, 7),          \
      S(3, 2, 2, 3))                                                                       \
    X(conv2d_depthwise, SMOOTH, tc_conv2d(A, B, tc_null(), 1, 1, 1, 3), S(1, 3, 3, 3),     \
      S(3, 1, 3, 3))                                                                       \
    X(avg_pool2d, SMOOTH, tc_square(tc_avg_pool2d(A, 2, 1, 0)), S(1, 2, 3, 4))             \
    X(avg_pool2d_padded, SMOOTH, tc_square(tc_avg_pool2d(A, 3, 2, 1)), S(1, 1, 5, 5))      \
    X(max_pool2d, KINKS, tc_square(tc_max_pool2d(A, 2, 2, 0)), S(1, 2, 4, 4))              \
    X(max_pool2d_overlap, KINKS, tc_square(tc_max_pool2d(A, 3, 1, 1)), S(1, 1, 4, 4))      \
    X(interpolate, SMOOTH, tc_square(tc_interpolate(A, TC_DIMS(5, 3), TC_LINEAR)),         \
      S(1, 1, 3, 4))                                                                       \
    X(interpolate_nearest, SMOOTH,                                                         \
      tc_square(tc_interpolate(A, TC_DIMS(5, 3), TC_NEAREST)), S(1, 1, 3, 4))              \
    X(softmax, SMOOTH, tc_softmax(A, 1), S(2, 4))                                          \
    X(softmax_columns, SMOOTH, tc_softmax(A, 0), S(4, 2))                                  \
    X(log_softmax, SMOOTH, tc_log_softmax(A, -1), S(2, 4))                                 \
    X(layer_norm, SMOOTH, tc_layer_norm(A, B, C, 1e-5), S(2, 4), S(4), S(4))               \
    X(rms_norm, SMOOTH, tc_rms_norm(A, B, 1e-5), S(2, 4), S(4))                            \
    X(group_norm, SMOOTH, tc_group_norm(A, 2, B, C, 1e-5), S(1, 4, 3), S(4), S(4))         \
    X(batch_norm, SMOOTH, tc_batch_norm(A, B, C, in[3], tc_null(), 1e-5), S(2, 3, 2),      \
      S(3), P(3), S(3))                                                                    \
    X(normalize, SMOOTH, tc_normalize(A, 2, 1, 1e-8), S(2, 4))                             \
    X(cosine_similarity, SMOOTH, tc_cosine_similarity(A, B, 1, 1e-8), S(2, 4), S(2, 4))    \
    X(mse_loss, SMOOTH, tc_mse_loss(A, B), S(2, 3), S(2, 3))                               \
    X(l1_loss, KINKS, tc_l1_loss(A, B), S(2, 3), S(2, 3))                                  \
    X(bce_with_logits, SMOOTH, tc_bce_with_logits(A, B), S(2, 3), P(2, 3))                 \
    X(cross_entropy, SMOOTH, tc_cross_entropy(A, index_of(tc, TC_DIMS(4), 3)), S(4, 3))    \
    X(cross_entropy_maps, SMOOTH, tc_cross_entropy(A, index_of(tc, TC_DIMS(2, 2), 3)),     \
      S(2, 3, 2))                                                                          \
    X(cross_entropy_ignore, SMOOTH,                                                        \
      tc_cross_entropy_ignore(A, index_of(tc, TC_DIMS(4), 3), 1), S(4, 3))                 \
    X(attention, SMOOTH, tc_scaled_dot_product_attention(A, B, C, tc_null(), 0, 0),        \
      S(2, 3, 2), S(2, 4, 2), S(2, 4, 2))                                                  \
    X(attention_causal, SMOOTH, tc_scaled_dot_product_attention(A, B, C, tc_null(), 1, 0), \
      S(3, 2), S(3, 2), S(3, 2))                                                           \
    X(attention_mask, SMOOTH, tc_scaled_dot_product_attention(A, B, C, in[3], 0, 0.7),     \
      S(3, 2), S(4, 2), S(4, 3), S(3, 4))                                                  \
    X(attention_one, SMOOTH, tc_scaled_dot_product_attention(A, B, C, tc_null(), 0, 0),    \
      S(2, 2), S(1, 2), S(1, 2))                                                           \
    X(dropout, SMOOTH, tc_mul(tc_dropout(A, 0.3), A), S(2, 4))                             \
    X(through_f32, KINKS, tc_to_f64(tc_mul_s(tc_to_f32(A), 0)), S(2, 3))                   \
    X(mlp, SMOOTH,                                                                         \
      tc_mean_all(                                                                         \
          tc_square(tc_linear(tc_gelu(tc_linear(A, B, tc_null())), C, tc_null()))),        \
      S(2, 3), S(4, 3), S(2, 4))

#define FUNCTION(name, smooth, expression, ...)                                            \
    static tc_tensor f_##name(tc_ctx *tc, const tc_tensor *in) {                           \
        (void)tc;                                                                          \
        return expression;                                                                 \
    }
#define ROW(name, smooth, expression, ...) {#name, f_##name, {__VA_ARGS__}, smooth},

CASES(FUNCTION)
static const sample samples[] = {CASES(ROW)};

// ---- running one ----

static uint64_t random_state;
static double random_in(double low, double high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(random_state >> 11) * 0x1p-53);
}

typedef struct work {
    tc_ctx *tc;
    const sample *s;
    int n_in, turned;
    int64_t n[MOST_IN];
    double x[MOST_IN][MOST]; // operands, row-major
    double memory[MOST_IN][MOST];
    double v[MOST],
        u[MOST_IN][MOST]; // what elements of the result, and of gradients, count
    int dtype;
} work;

static tc_dims dims_of(const operand *o) {
    tc_dims d = TC_SCALAR;
    while (d.rank < 4 && o->size[d.rank]) d.size[d.rank] = o->size[d.rank], d.rank++;
    return d;
}

static int64_t count(tc_dims d) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    return n;
}

static void work_open(work *w, const sample *s) {
    memset(w, 0, sizeof *w);
    w->s = s, w->dtype = TC_F64;
    random_state = 7;
    while (w->n_in < MOST_IN && s->in[w->n_in].low != s->in[w->n_in].high) {
        const operand *o = &s->in[w->n_in];
        w->n[w->n_in] = count(dims_of(o));
        REQUIRE(w->n[w->n_in] <= MOST);
        for (int64_t i = 0; i < w->n[w->n_in]; i++)
            w->x[w->n_in][i] = random_in(o->low, o->high);
        for (int64_t i = 0; i < w->n[w->n_in]; i++) w->u[w->n_in][i] = random_in(0.5, 2);
        w->n_in++;
    }
    for (int i = 0; i < MOST; i++) w->v[i] = random_in(0.5, 2);
}

// Where element i of an operand is in memory of the dimensions in reverse order.
static int64_t turned(tc_dims d, int64_t i) {
    int64_t at = 0, stride = 1, left = i, size[TC_MAX_RANK];
    for (int k = d.rank; k-- > 0; left /= d.size[k]) size[k] = left % d.size[k];
    for (int k = 0; k < d.rank; k++) at += size[k] * stride, stride *= d.size[k];
    return at;
}

static void lay(work *w) {
    for (int k = 0; k < w->n_in; k++)
        for (int64_t i = 0; i < w->n[k]; i++)
            w->memory[k][w->turned ? turned(dims_of(&w->s->in[k]), i) : i] = w->x[k][i];
}

static void make_operands(work *w, tc_tensor *in) {
    for (int k = 0; k < w->n_in; k++) {
        tc_dims d = dims_of(&w->s->in[k]), back = d, order = d;
        for (int i = 0; i < d.rank; i++)
            back.size[i] = d.size[d.rank - 1 - i], order.size[i] = d.rank - 1 - i;
        in[k] = tc_wrap(w->tc, w->memory[k], w->turned ? back : d, TC_F64);
        if (w->turned && d.rank) in[k] = tc_permute(in[k], order);
        if (w->dtype != TC_F64) in[k] = tc_cast(in[k], (tc_dtype)w->dtype);
    }
}

// sum(v * y), or with h sum(u * gradient); and what they change by with the operands.
static double run(work *w, const tc_tensor *in, const char *backend, double g[][MOST],
                  double h[][MOST]) {
    tc_tensor d[MOST_IN], sum = tc_null();
    tc_options o = tc_options_default();
    char name[80];
    o.backend = backend;
    lay(w);
    tc_manual_seed(w->tc, 3);
    snprintf(name, sizeof name, "%s %d%d", w->s->name, g != NULL, h != NULL);
    tc_trace_begin_at(w->tc, name, &o, __FILE__, 1);
    tc_tensor y = w->s->f(w->tc, in);
    tc_tensor v = tc_narrow(in[MOST_IN], 0, 0, tc_numel(y));
    v = tc_cast(tc_reshape(v, tc_shape(y)), tc_dtype_of(y));
    tc_tensor value = tc_sum_all(tc_mul(y, v));
    if (g || h) CHECK_EQ(tc_vjp(y, v, in, w->n_in, d), TC_OK);
    for (int k = 0; h && k < w->n_in; k++) {
        tc_tensor u = tc_narrow(in[MOST_IN + 1], 0, k * MOST, w->n[k]);
        tc_tensor part = tc_sum_all(tc_mul(d[k], tc_reshape(u, dims_of(&w->s->in[k]))));
        sum = sum.id ? tc_add(sum, part) : part;
        tc_zero_(tc_grad_of(in[k]));
    }
    if (h) CHECK_EQ(tc_backward(sum), TC_OK);
    if (tc_trace_end(w->tc)) {
        FAIL("%s, %s: %s", w->s->name, backend, tc_error_text(w->tc));
        tc_error_clear(w->tc);
        return 0;
    }
    for (int k = 0; (g || h) && k < w->n_in; k++) {
        tc_tensor t = h ? tc_grad_of(in[k]) : tc_to_f64(d[k]);
        CHECK_EQ(tc_read(t, h ? h[k] : g[k], (size_t)w->n[k] * sizeof(double)), TC_OK);
    }
    return tc_item(h ? sum : tc_to_f64(value));
}

enum { VALUE, FIRST };

// What `run` changes by with element i of operand k: FIRST of gradients, else of the value.
static double slope(work *w, const tc_tensor *in, int k, int64_t i, int of) {
    static double h[MOST_IN][MOST];
    double was = w->x[k][i], step = 2e-6;
    w->x[k][i] = was + step;
    double above = run(w, in, "aot_eager", NULL, of == FIRST ? h : NULL);
    w->x[k][i] = was - step;
    double below = run(w, in, "aot_eager", NULL, of == FIRST ? h : NULL);
    w->x[k][i] = was;
    return (above - below) / (2 * step);
}

// Whether what is given are slopes, up to what differences can tell.
static void check_slopes(work *w, const tc_tensor *in, double g[][MOST], int of) {
    for (int k = 0; k < w->n_in; k++)
        for (int64_t i = 0; i < w->n[k]; i++) {
            double want = slope(w, in, k, i, of);
            if (!(fabs(g[k][i] - want) <= 1e-7 * 50 * (1 + fabs(want))))
                FAIL("%s, %s derivative by operand %d[%d]: %.9g, not %.9g", w->s->name,
                     of == FIRST ? "second" : "first", k, (int)i, g[k][i], want);
        }
}

static void open_operands(work *w, tc_tensor *in, int again) {
    make_operands(w, in);
    in[MOST_IN] = tc_wrap(w->tc, w->v, TC_DIMS(MOST), TC_F64);
    in[MOST_IN + 1] = tc_wrap(w->tc, w->u, TC_DIMS(MOST_IN * MOST), TC_F64);
    for (int k = 0; again && k < w->n_in; k++) CHECK_EQ(tc_requires_grad(in[k], 1), TC_OK);
}

static double first[MOST_IN][MOST], other[MOST_IN][MOST];

static void check_sample(tc_ctx *tc, const sample *s) {
    static work w;
    static const char *const backends[] = {"eager", "cpu"};
    tc_tensor in[MOST_IN + 2];
    work_open(&w, s);
    w.tc = tc;
    for (w.turned = 0; w.turned < 2; w.turned++) {
        tc_scope_begin(tc);
        lay(&w);
        open_operands(&w, in, 0);
        run(&w, in, "aot_eager", first, NULL);
        check_slopes(&w, in, first, VALUE);
        for (int b = 0; b < 2 - w.turned; b++) {
            run(&w, in, backends[b], other, NULL);
            if (memcmp(first, other, sizeof first))
                FAIL("%s: \"%s\" has other bits than the interpreter", s->name,
                     backends[b]);
        }
        tc_scope_end(tc);
    }
    w.turned = 0;
}

// Sizes of the largest gradients are the scale: what cancels out in f64 need not in f32.
static void check_f32(tc_ctx *tc, const sample *s) {
    static work w;
    tc_tensor in[MOST_IN + 2];
    double most = 1;
    work_open(&w, s);
    w.tc = tc;
    for (int narrow = 0; narrow < 2; narrow++) {
        tc_scope_begin(tc);
        w.dtype = narrow ? TC_F32 : TC_F64;
        lay(&w);
        open_operands(&w, in, 0);
        run(&w, in, "aot_eager", narrow ? other : first, NULL);
        tc_scope_end(tc);
    }
    for (int k = 0; k < w.n_in; k++)
        for (int64_t i = 0; i < w.n[k]; i++) most = fmax(most, fabs(first[k][i]));
    for (int k = 0; k < w.n_in; k++)
        for (int64_t i = 0; i < w.n[k]; i++)
            if (!(fabs(first[k][i] - other[k][i]) <= 2e-5 * most))
                FAIL("%s by operand %d[%d]: %.9g in f32, %.9g in f64", s->name, k, (int)i,
                     other[k][i], first[k][i]);
}

static void check_second(tc_ctx *tc, const sample *s) {
    static work w;
    tc_tensor in[MOST_IN + 2];
    work_open(&w, s);
    w.tc = tc;
    tc_scope_begin(tc);
    lay(&w);
    open_operands(&w, in, 1);
    run(&w, in, "aot_eager", NULL, first);
    check_slopes(&w, in, first, FIRST);
    for (int k = 0; k < w.n_in; k++) tc_requires_grad(in[k], 0);
    tc_scope_end(tc);
}

static void each(void (*check)(tc_ctx *tc, const sample *s), int only_smooth) {
    tc_ctx *tc = open_backend("aot_eager");
    n_known = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (only_smooth && !samples[i].smooth) continue;
        check(tc, &samples[i]);
        if (tc_error(tc)) FAIL("%s: %s", samples[i].name, tc_error_text(tc));
        tc_error_clear(tc);
    }
    tc_close(tc);
}

TEST(gradients_are_slopes) { each(check_sample, 0); }
TEST(gradients_in_f32) { each(check_f32, 0); }
TEST(second_derivatives_are_slopes) { each(check_second, 1); }
