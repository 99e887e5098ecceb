// What tests/region/bits.c runs: regions on awkward sizes and values, and their inputs.
#ifndef BITS_H
#define BITS_H

#include <math.h>

// ---- inputs ----

enum { ROWS = 37, COLUMNS = 1001, LONG = 20011, ODD = 480, MOST = 24 };

typedef struct inputs {
    tc_tensor x, y, w, b;   // f32 [ROWS, COLUMNS] twice, [COLUMNS] twice
    tc_tensor line, line64; // f32 and f64 [3, LONG]
    tc_tensor odd, odd64;   // [ODD]: NaN, infinities, denormals, -0, the largest, ...
    tc_tensor i32, i64, u8; // [ODD] with both ends of each range
    tc_tensor j32, j64, v8; // the same, shuffled against them: divisors, shifts
    tc_tensor deep, deep64, deep32; // f32, f64, i32 [401, 700]: more than a cache keeps
    tc_tensor index;                // i64 [50], in [-ROWS, ROWS)
    tc_tensor image, kernel, kb;    // [2, 3, 19, 23], [5, 3, 3, 3], [5]
} inputs;

static uint64_t state;

static uint64_t bits(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double any_double(void) {
    static const double special[] = {
        NAN,    INFINITY, -INFINITY,    0.0,    -0.0,  1e-40, -1e-42, 1e-310,
        3.4e38, -3.4e38,  1e300,        -1e300, 0.5,   -0.5,  2.5,    -2.5,
        1e9,    -3e9,     2147483647.5, 1e19,   255.5, -1,    88.8,   -104};
    uint64_t k = bits();
    if (k % 2) return special[k / 2 % (sizeof special / sizeof *special)];
    return ldexp((double)(int64_t)bits(), (int)(k >> 40) % 90 - 110);
}

static double small_double(void) { return (double)(int64_t)bits() * 0x1p-61; }

static int64_t any_integer(void) {
    static const int64_t special[] = {0,         1,         -1,        2,        7,  -7,
                                      31,        32,        33,        63,       64, 65,
                                      INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    uint64_t k = bits();
    return k % 4 ? special[k / 4 % 16] : (int64_t)bits() >> (k >> 8) % 64;
}

static void put(void *at, tc_dtype dtype, int64_t i, double f, int64_t k) {
    if (dtype == TC_F32) ((float *)at)[i] = (float)f;
    if (dtype == TC_F64) ((double *)at)[i] = f;
    if (dtype == TC_I32) ((int32_t *)at)[i] = (int32_t)(uint32_t)(uint64_t)k;
    if (dtype == TC_I64) ((int64_t *)at)[i] = k;
    if (dtype == TC_U8) ((uint8_t *)at)[i] = (uint8_t)(uint64_t)k;
}

static tc_tensor filled(tc_ctx *tc, tc_dims d, tc_dtype dtype, int odd) {
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    void *at = calloc((size_t)n, 8);
    for (int64_t i = 0; i < n; i++)
        put(at, dtype, i, odd ? any_double() : small_double(), any_integer());
    tc_tensor t = tc_from_data(tc, at, d, dtype);
    free(at);
    return t;
}

static inputs make_inputs(tc_ctx *tc) {
    inputs in;
    int64_t index[50];
    state = 7;
    in.x = filled(tc, TC_DIMS(ROWS, COLUMNS), TC_F32, 0);
    in.y = filled(tc, TC_DIMS(ROWS, COLUMNS), TC_F32, 0);
    in.w = filled(tc, TC_DIMS(COLUMNS), TC_F32, 0);
    in.b = filled(tc, TC_DIMS(COLUMNS), TC_F32, 0);
    in.line = filled(tc, TC_DIMS(3, LONG), TC_F32, 0);
    in.line64 = filled(tc, TC_DIMS(3, LONG), TC_F64, 0);
    in.odd = filled(tc, TC_DIMS(ODD), TC_F32, 1);
    in.odd64 = filled(tc, TC_DIMS(ODD), TC_F64, 1);
    in.i32 = filled(tc, TC_DIMS(ODD), TC_I32, 0),
    in.j32 = filled(tc, TC_DIMS(ODD), TC_I32, 0);
    in.i64 = filled(tc, TC_DIMS(ODD), TC_I64, 0),
    in.j64 = filled(tc, TC_DIMS(ODD), TC_I64, 0);
    in.u8 = filled(tc, TC_DIMS(ODD), TC_U8, 0), in.v8 = filled(tc, TC_DIMS(ODD), TC_U8, 0);
    in.image = filled(tc, TC_DIMS(2, 3, 19, 23), TC_F32, 0);
    in.kernel = filled(tc, TC_DIMS(5, 3, 3, 3), TC_F32, 0);
    in.kb = filled(tc, TC_DIMS(5), TC_F32, 0);
    in.deep = filled(tc, TC_DIMS(401, 700), TC_F32, 0);
    in.deep64 = filled(tc, TC_DIMS(401, 700), TC_F64, 0);
    in.deep32 = filled(tc, TC_DIMS(401, 700), TC_I32, 0);
    for (int i = 0; i < 50; i++) index[i] = (int64_t)(bits() % (2 * ROWS)) - ROWS;
    in.index = tc_from_data(tc, index, TC_DIMS(50), TC_I64);
    return in;
}

// ---- regions: each puts its results into out and gives their number ----

static int softmaxes(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_softmax(in->x, -1);
    out[1] = tc_log_softmax(in->line, 1);
    out[2] = tc_softmax(in->y, 0);
    out[3] = tc_logsumexp(in->line64, 1);
    return 4;
}

static int norms(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_layer_norm(in->x, in->w, in->b, 1e-5);
    out[1] = tc_rms_norm(in->y, in->w, 1e-6);
    out[2] = tc_var(in->line, 1, 1);
    out[3] = tc_normalize(in->x, 2, 0, 1e-12);
    return 4;
}

static int entropy(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    tc_tensor p = tc_softmax(tc_mul(in->x, tc_gelu(in->y)), -1);
    out[0] = tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
    return 1;
}

static int salience(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    static const float taps[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    tc_tensor k = tc_const(tc, taps, TC_DIMS(1, 1, 3, 3), TC_F32);
    tc_tensor gray = tc_add(tc_mul_s(tc_narrow(in->image, 1, 0, 1), 0.299),
                            tc_mul_s(tc_narrow(in->image, 1, 1, 1), 0.587));
    tc_tensor g = tc_conv2d(gray, k, tc_null(), 1, 1, 1, 1);
    tc_tensor s = tc_add(tc_sqrt(tc_add_s(tc_mul(g, g), 1e-12)),
                         tc_abs(tc_sub(gray, tc_avg_pool2d(gray, 7, 1, 3))));
    out[0] = tc_div(s, tc_add_s(tc_amax_dims(s, TC_DIMS(1, 2, 3), 1), 1e-6));
    return 1;
}

static int network(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    tc_tensor h = tc_relu(tc_conv2d(in->image, in->kernel, in->kb, 1, 1, 1, 1));
    out[0] = tc_max_pool2d(h, 3, 2, 1);
    tc_tensor a = tc_narrow(in->x, 1, 0, 45), w = tc_narrow(in->y, 1, 3, 45);
    out[1] = tc_linear(tc_gelu(tc_linear(a, w, tc_null())), tc_narrow(in->x, 1, 7, ROWS),
                       tc_narrow(in->b, 0, 0, ROWS));
    out[2] = tc_matmul(tc_t(in->x), in->y);
    return 3;
}

static int products(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    tc_tensor d = tc_reshape(tc_narrow(in->line64, 1, 0, 60), TC_DIMS(3, 4, 15));
    tc_tensor k = tc_reshape(in->i32, TC_DIMS(4, 8, 15)),
              l = tc_reshape(in->i64, TC_DIMS(24, 20));
    out[0] = tc_matmul(d, tc_transpose(d, 1, 2));
    out[1] = tc_matmul(k, tc_transpose(k, 1, 2));
    out[2] = tc_matmul(l, tc_t(l));
    out[3] = tc_matmul(in->odd, tc_flip(in->odd, TC_DIMS(0)));
    return 4;
}

// Products of a long depth, whose left operand lies k by k, as the gradients of weights: rows beside each other, in
// runs of 16, evaluated, and not a multiple of a vector.
static int deep_products(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    tc_tensor a = tc_reshape(tc_narrow(in->line, 1, 0, 16000), TC_DIMS(1000, 48));
    tc_tensor b = tc_narrow(tc_t(in->x), 0, 0, 1000);
    tc_tensor d = tc_reshape(tc_narrow(in->line64, 1, 0, 16000), TC_DIMS(1000, 48));
    tc_tensor heads =
        tc_permute(tc_reshape(a, TC_DIMS(10, 3, 100, 16)), TC_DIMS(0, 2, 1, 3));
    tc_tensor runs = tc_reshape(heads, TC_DIMS(1000, 48));
    (void)tc;
    out[0] = tc_matmul(tc_t(a), a);
    out[1] = tc_matmul(tc_t(runs), b);
    out[2] = tc_matmul(tc_t(d), d);
    out[3] = tc_matmul(tc_t(tc_narrow(a, 1, 1, 41)), a);
    out[4] = tc_matmul(tc_t(tc_cast(tc_round(a), TC_I32)), tc_cast(tc_round(b), TC_I32));
    out[5] = tc_relu(tc_linear(in->x, in->y, tc_narrow(in->b, 0, 0, ROWS)));
    out[6] = tc_matmul(tc_t(tc_cast(a, TC_BF16)), tc_cast(runs, TC_BF16));
    return 7;
}

// Products that are only stored: rows apart, blocks cut at the right and below, narrow ones, batches in another order.
static int stored(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    tc_tensor w = in->deep, x = tc_t(w), room = tc_zeros(tc, TC_DIMS(712, 640), TC_F32);
    tc_tensor b = tc_reshape(tc_narrow(in->line, 1, 0, 19200), TC_DIMS(12, 100, 48));
    tc_tensor d = tc_narrow(in->deep64, 0, 0, 200);
    tc_tensor left = tc_matmul(x, tc_narrow(w, 1, 0, 517));
    tc_copy_(tc_narrow(tc_narrow(room, 0, 5, 700), 1, 9, 517), left);
    out[0] = room;
    out[1] = tc_matmul(w, x);
    out[2] = tc_matmul(w, tc_narrow(x, 1, 0, 17));
    out[3] = tc_matmul(tc_narrow(w, 1, 0, 66), tc_narrow(tc_narrow(x, 0, 0, 66), 1, 0, 72));
    out[4] = tc_contiguous(tc_transpose(tc_matmul(b, tc_transpose(b, 1, 2)), 0, 1));
    out[5] = tc_matmul(d, tc_t(d));
    return 6;
}

// Few rows times weights that stream by: rows that are and are no multiple of a block, columns and depths that are and
// are none of a vector and a slice.
static int streams(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    tc_tensor x = tc_narrow(in->x, 1, 0, 401), w = in->deep;
    tc_tensor two = tc_reshape(tc_narrow(w, 0, 0, 400), TC_DIMS(2, 200, 700));
    tc_tensor left = tc_reshape(tc_narrow(in->line, 1, 0, 1600), TC_DIMS(2, 12, 200));
    (void)tc;
    out[0] = tc_matmul(tc_narrow(x, 0, 0, 9), w);
    out[1] =
        tc_relu(tc_add(tc_matmul(tc_narrow(x, 0, 3, 1), w), tc_narrow(in->b, 0, 0, 700)));
    out[2] = tc_matmul(tc_narrow(x, 0, 0, 31), w);
    out[3] = tc_matmul(tc_cast(tc_narrow(x, 0, 0, 5), TC_F64), in->deep64);
    out[4] = tc_matmul(tc_cast(tc_round(tc_narrow(x, 0, 1, 17)), TC_I32), in->deep32);
    out[5] = tc_matmul(left, two);
    out[6] = tc_matmul(tc_tanh(tc_narrow(x, 0, 0, 8)), tc_narrow(w, 1, 0, 640));
    out[7] = tc_softmax(tc_matmul(tc_narrow(x, 0, 0, 4), w), 1);
    out[8] =
        tc_matmul(tc_narrow(tc_narrow(x, 0, 0, 3), 1, 0, 384), tc_narrow(w, 0, 7, 384));
    return 9;
}

static int sums(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    static const int sizes[] = {1, 7, 31, 33, 1000, 8191, 8192, 8193, LONG};
    int n = 0;
    (void)tc;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        out[n++] = tc_sum(tc_narrow(in->line, 1, 0, sizes[i]), 1);
    out[n++] = tc_sum(in->line, 0);
    out[n++] = tc_sum_all(in->line64);
    out[n++] = tc_mean(in->x, 0);
    out[n++] = tc_prod(tc_add_s(tc_mul_s(in->x, 0.01), 1), 1);
    out[n++] = tc_sum(in->i64, 0);
    out[n++] = tc_prod(in->i32, 0);
    out[n++] = tc_sum(in->odd, 0);
    return n;
}

static int orders(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    tc_tensor o = tc_reshape(in->odd, TC_DIMS(12, 40)), t = tc_round(tc_mul_s(in->x, 2));
    (void)tc;
    out[0] = tc_argmax(o, 1), out[1] = tc_argmin(o, 0);
    out[2] = tc_argmax(t, 1), out[3] = tc_argmin(t, 0);
    out[4] = tc_amax(o, 0), out[5] = tc_amin(o, 1);
    out[6] = tc_any(tc_isnan(o), 1), out[7] = tc_all(tc_isfinite(o), 0);
    out[8] = tc_argmax_all(in->line), out[9] = tc_amin_all(in->i64);
    out[10] = tc_argmin(in->j32, 0);
    return 11;
}

static int gathers(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_mul_s(tc_take(in->x, in->index, 0), 3);
    out[1] = tc_embedding(in->y, tc_reshape(in->index, TC_DIMS(5, 10)));
    out[2] = tc_gather(tc_narrow(in->x, 1, 0, 3), 0,
                       tc_expand(tc_unsqueeze(in->index, 1), TC_DIMS(50, 3)));
    out[3] = tc_one_hot(tc_remainder_s(in->index, 9), 9);
    return 4;
}

static int randoms(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    out[0] = tc_rand(tc, TC_DIMS(ROWS, COLUMNS), TC_F32);
    out[1] = tc_randn(tc, TC_DIMS(LONG), TC_F32);
    out[2] = tc_randn(tc, TC_DIMS(999), TC_F64);
    out[3] = tc_randint(tc, -5, 1000, TC_DIMS(999), TC_I32);
    out[4] = tc_dropout(in->x, 0.3);
    out[5] = tc_softmax(tc_dropout(in->y, 0.2), -1); // rows that begin anywhere
    return 6;
}

// Results of some megabytes, which may be written past the caches.
static int large(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    out[0] = tc_relu(
        tc_expand(tc_reshape(in->x, TC_DIMS(1, ROWS, COLUMNS)), TC_DIMS(9, ROWS, COLUMNS)));
    out[1] =
        tc_neg(tc_expand(tc_reshape(in->line64, TC_DIMS(1, 3, LONG)), TC_DIMS(6, 3, LONG)));
    out[2] = tc_softmax(
        tc_reshape(tc_mul_s(tc_expand(tc_reshape(in->y, TC_DIMS(1, ROWS, COLUMNS)),
                                      TC_DIMS(8, ROWS, COLUMNS)),
                            2),
                   TC_DIMS(8 * ROWS, COLUMNS)),
        -1);
    return 3;
}

static int integers(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    const tc_tensor a[3] = {in->i32, in->i64, in->u8}, b[3] = {in->j32, in->j64, in->v8};
    int n = 0;
    (void)tc;
    for (int i = 0; i < 3; i++) {
        out[n++] = tc_mul(tc_add(a[i], b[i]), tc_sub(a[i], b[i]));
        out[n++] = tc_bitwise_left_shift(a[i], b[i]);
        out[n++] = tc_bitwise_right_shift(a[i], b[i]);
        out[n++] = tc_neg(tc_bitwise_xor(a[i], tc_bitwise_not(b[i])));
        out[n++] = tc_abs(tc_minimum(a[i], b[i]));
    }
    out[n++] = tc_square(tc_add(in->i32, in->i64));
    return n;
}

static int divisions(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    const tc_tensor a[5] = {in->i32, in->i64, in->u8, in->odd, in->odd64};
    const tc_tensor b[5] = {in->j32, in->j64, in->v8, tc_flip(in->odd, TC_DIMS(0)),
                            tc_flip(in->odd64, TC_DIMS(0))};
    int n = 0;
    (void)tc;
    for (int i = 0; i < 5; i++) {
        out[n++] = tc_floor_divide(a[i], b[i]);
        out[n++] = tc_remainder(a[i], b[i]);
        out[n++] = tc_fmod(a[i], b[i]);
        out[n++] = tc_div(a[i], b[i]);
    }
    return n;
}

static int casts(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    const tc_tensor a[5] = {in->odd, in->odd64, in->i32, in->i64, in->u8};
    const tc_dtype to[3] = {TC_I32, TC_I64, TC_U8};
    int n = 0;
    (void)tc;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) out[n++] = tc_add_s(tc_cast(a[i], to[k]), 0);
    for (int i = 0; i < 5; i++) out[n++] = tc_to_f32(tc_neg(tc_to_f64(a[i])));
    for (int i = 0; i < 4; i++) out[n++] = tc_logical_not(tc_to_bool(a[i]));
    return n;
}

static int functions_of(tc_tensor x, tc_tensor *out) {
    int n = 0;
    out[n++] = tc_exp(x), out[n++] = tc_expm1(x), out[n++] = tc_exp2(x);
    out[n++] = tc_log(x), out[n++] = tc_log1p(x), out[n++] = tc_log10(x);
    out[n++] = tc_sin(x), out[n++] = tc_cos(x), out[n++] = tc_tan(x);
    out[n++] = tc_atan(x), out[n++] = tc_asin(x), out[n++] = tc_sinh(x);
    out[n++] = tc_tanh(x), out[n++] = tc_erf(x), out[n++] = tc_sigmoid(x);
    out[n++] = tc_gelu(x), out[n++] = tc_silu(x), out[n++] = tc_softplus(x);
    out[n++] = tc_sqrt(x), out[n++] = tc_rsqrt(x), out[n++] = tc_round(x);
    out[n++] = tc_pow(x, tc_flip(x, TC_DIMS(0))), out[n++] = tc_sign(x);
    out[n++] = tc_atan2(x, tc_flip(x, TC_DIMS(0)));
    return n;
}

static int functions(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    return functions_of(in->odd, out);
}

static int functions64(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    (void)tc;
    return functions_of(in->odd64, out);
}

static int moves(tc_ctx *tc, const inputs *in, tc_tensor *out) {
    tc_tensor t = tc_t(in->x), s = tc_slice(in->y, 1, 2, TC_END, 3), list[2];
    list[0] = tc_flip(s, TC_DIMS(1)), list[1] = tc_narrow(in->x, 1, 0, 100);
    (void)tc;
    out[0] = tc_add(tc_contiguous(t), tc_unsqueeze(in->w, 1));
    out[1] = tc_mul_s(tc_cat(list, 2, 1), 2);
    out[2] = tc_sum(tc_pad(s, TC_DIMS(1, 2), TC_DIMS(0, 3), 0.5), 1);
    out[3] = tc_roll(tc_add_s(s, 1), 5, 1);
    out[4] = tc_mean(tc_unfold(in->line, 1, 9, 4), -1);
    out[5] = tc_triu(tc_narrow(in->x, 1, 0, ROWS), 1);
    return 6;
}

// `slow`: not for the oldest CPU, where gcc takes half a minute over a kernel of so many
// functions (an fma is a call there); tests/unit/math.c covers the functions themselves.
static const struct {
    const char *name;
    int (*make)(tc_ctx *tc, const inputs *in, tc_tensor *out);
    int slow;
} regions[] = {
    {"softmaxes", softmaxes, 0},
    {"norms", norms, 0},
    {"entropy", entropy, 1},
    {"salience", salience, 0},
    {"network", network, 0},
    {"products", products, 0},
    {"deep", deep_products, 0},
    {"stored", stored, 0},
    {"streams", streams, 0},
    {"sums", sums, 0},
    {"orders", orders, 0},
    {"gathers", gathers, 0},
    {"randoms", randoms, 0},
    {"large", large, 0},
    {"integers", integers, 0},
    {"divisions", divisions, 0},
    {"casts", casts, 0},
    {"functions", functions, 1},
    {"functions64", functions64, 1},
    {"moves", moves, 0},
};

#endif
