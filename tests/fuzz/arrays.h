// Products, convolutions, attention and what stands around them, once more in plain C, for products.c: loops over arrays
// of numbers. Every float has beside it how far a right result may be from it. 0 = it has these bits: sums of
// products add up k in order, one fused multiply-add a step in f32, a product and a sum in f64, and what is exact or
// rounded once has one right result. What the library may compute in an order or by polynomials of its own is within a
// bound, and so is what is made of it.
//
// Under TC_NUMERICS_FAST (`numerics_fast`) these are within a bound, too: a product that is added may not be rounded before,
// sums have any order, and some convolutions errors of their own. NaN and infinity that inputs have are then
// where loops in C have them. What overflowed or cancelled may be anything, and has `far` = infinity.
#ifndef FUZZ_ARRAYS_H
#define FUZZ_ARRAYS_H
#include "numbers.h"

#include <math.h>

typedef struct cell {
    double x, far; // a float, and how far the result may be from it
    int64_t i;     // an integer
} cell;

typedef struct array {
    tc_dims d;
    int dtype, rough; // rough: some `far` is not 0
    int64_t n;
    cell *at; // owned; NULL = only its sizes are known
} array;

// 1: no result is rounded, as differences want it.
static int unrounded;
// 1: TC_NUMERICS_FAST; and halves are not rounded after each op.
static int numerics_fast, rounded_late;

static int64_t size_of(const tc_dims *d) {
    int64_t n = 1;
    for (int i = 0; i < d->rank; i++) n *= d->size[i];
    return n;
}

static array array_new(tc_dims d, int dtype, int with_numbers) {
    array a;
    memset(&a, 0, sizeof a);
    a.d = d, a.dtype = dtype, a.n = size_of(&d);
    if (with_numbers) a.at = (cell *)calloc((size_t)a.n + 1, sizeof *a.at);
    return a;
}

static int is_floating(int dtype) { return category(dtype) == 2; }

static double unit_of_dtype(int dtype) {
    return dtype == TC_BF16  ? 0x1p-8
           : dtype == TC_F16 ? 0x1p-11
           : dtype == TC_F32 ? 0x1p-24
                             : 0x1p-53;
}

// The wider of both; f16 with bf16 gives f32, u8 with i8 i16.
static int promoted(int a, int b) {
    if (category(a) != category(b)) return category(a) > category(b) ? a : b;
    if (a != b && is_half(a) && is_half(b)) return TC_F32;
    if (a != b && a + b == TC_U8 + TC_I8) return TC_I16;
    return a > b ? a : b;
}

// What dtype makes of an integer.
static int64_t wrapped(int dtype, int64_t i) {
    switch (dtype) {
    case TC_BOOL: return i != 0;
    case TC_U8: return (int64_t)(uint8_t)i;
    case TC_I8: return (int64_t)(int8_t)(uint8_t)i;
    case TC_I16: return (int64_t)(int16_t)(uint16_t)i;
    case TC_I32: return (int64_t)(int32_t)(uint32_t)i;
    default: return i;
    }
}

// Halves are computed in f32.
static double nearest(int dtype, double x) {
    if (unrounded || dtype == TC_F64) return x;
    float f = (float)x;
    return is_half(dtype) ? half_value(format_of(dtype), half_nearest(format_of(dtype), f))
                          : (double)f;
}

// The least distance of two numbers.
static double step_of_dtype(int dtype) {
    return dtype == TC_F16 ? 0x1p-24 : dtype == TC_BF16 ? 0x1p-133 : 0x1p-140;
}

// A float result, x before it is rounded. NaN and infinity of numbers that are known are known.
static cell settled(int dtype, double x, double far) {
    cell c = {nearest(dtype, x), far, 0};
    if (rounded_late && is_half(dtype) && c.x != x && far == 0) c.far = 0x1p-140;
    if (c.far != 0) c.far += 2 * unit_of_dtype(dtype) * fabs(x) + 0x1p-140;
    if (c.far != 0 && numerics_fast) c.far += step_of_dtype(dtype);
    if (numerics_fast && !isfinite(x)) c.far = far == INFINITY ? INFINITY : 0;
    if (unrounded) c.far = 0;
    return c;
}

// What becomes of a factor's distance. What is times anything may be anything, and so may infinity times what may be 0.
static double times_far(double x, double far) {
    return far == 0 || far == INFINITY ? far : fabs(x) * far;
}

// What overflowed, if it did.
static double far_of(const cell *c) {
    return c->far != 0 && !isfinite(c->x) ? INFINITY : c->far;
}

// What changes a product of f32 or f64 that is not rounded before it is added. Halves are multiplied in f32.
static double contracted(int dtype, double product) {
    if (!numerics_fast || !isfinite(product)) return 0;
    return dtype == TC_F64 ? 0x1p-53 * fabs(product)
                           : fabs(product - (double)(float)product);
}

static cell integer(int dtype, int64_t i) {
    cell c = {0, 0, wrapped(dtype, i)};
    return c;
}

static void mark_rough(array *a) {
    for (int64_t i = 0; a->at && i < a->n && !a->rough; i++) a->rough = a->at[i].far != 0;
}

// ---- movement ----

// Row-major strides.
static void strides_of(const tc_dims *d, int64_t *stride) {
    int64_t n = 1;
    for (int i = d->rank; i-- > 0; n *= d->size[i]) stride[i] = n;
}

// The element of strides and an offset that element i of d is.
static int64_t place_in(const tc_dims *d, int64_t i, const int64_t *stride, int64_t at) {
    for (int k = d->rank; k-- > 0; i /= d->size[k]) at += i % d->size[k] * stride[k];
    return at;
}

static array array_view(const array *a, tc_dims d, const int64_t *stride, int64_t at) {
    array r = array_new(d, a->dtype, a->at != NULL);
    r.rough = a->rough;
    for (int64_t i = 0; a->at && i < r.n; i++) r.at[i] = a->at[place_in(&d, i, stride, at)];
    return r;
}

static array array_reshape(const array *a, tc_dims d) {
    int64_t stride[TC_MAX_RANK];
    strides_of(&d, stride);
    return array_view(a, d, stride, 0);
}

static array array_permute(const array *a, tc_dims order) {
    int64_t s[TC_MAX_RANK], stride[TC_MAX_RANK];
    tc_dims d = order;
    strides_of(&a->d, s);
    for (int i = 0; i < order.rank; i++)
        d.size[i] = a->d.size[order.size[i]], stride[i] = s[order.size[i]];
    return array_view(a, d, stride, 0);
}

// n elements of a dimension from `from` on, `step` apart.
static array array_slice(const array *a, int dim, int64_t from, int64_t n, int64_t step) {
    int64_t stride[TC_MAX_RANK];
    tc_dims d = a->d;
    strides_of(&a->d, stride);
    int64_t at = from * stride[dim];
    stride[dim] *= step, d.size[dim] = n;
    return array_view(a, d, stride, at);
}

// To sizes of the same or a higher rank, as broadcasting has it.
static array array_expand(const array *a, tc_dims d) {
    int64_t s[TC_MAX_RANK], stride[TC_MAX_RANK];
    int more = d.rank - a->d.rank;
    strides_of(&a->d, s);
    for (int i = 0; i < d.rank; i++)
        stride[i] = i < more || a->d.size[i - more] == 1 ? 0 : s[i - more];
    return array_view(a, d, stride, 0);
}

// Elements index[i] of a dimension; -1 = a zero.
static array array_take(const array *a, int dim, const int64_t *index, int64_t n) {
    int64_t stride[TC_MAX_RANK];
    tc_dims d = a->d;
    d.size[dim] = n;
    array r = array_new(d, a->dtype, a->at != NULL);
    r.rough = a->rough;
    strides_of(&d, stride);
    int64_t inner = stride[dim], old = a->d.size[dim];
    for (int64_t i = 0; a->at && i < r.n; i++) {
        int64_t k = index[i / inner % n];
        if (k >= 0) r.at[i] = a->at[i / (inner * n) * inner * old + k * inner + i % inner];
    }
    return r;
}

// ---- element by element ----
typedef enum unary {
    NEG,
    RELU,
    ABS,
    SQUARE,
    TIMES,    // a number
    PLUS,     // a number
    AT_LEAST, // a number
    TANH,
    SIGMOID,
    SILU,
    UNARIES
} unary;

// Of large negative x the exponential of -x would be infinite.
static double sigmoid(double x) {
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static cell unary_of(unary op, double s, int dtype, cell a) {
    double x = a.x, far = far_of(&a), unit = 16 * unit_of_dtype(TC_F32), y = 0;
    int64_t i = a.i, n = (int64_t)s;
    double least = dtype == TC_F64 ? 0x1p-1022 : 0x1p-126; // the least normal number
    if (dtype == TC_F64) unit = 16 * unit_of_dtype(TC_F64);
    if (!is_floating(dtype))
        return integer(dtype, op == NEG      ? (int64_t)(0 - (uint64_t)i)
                              : op == RELU   ? (i > 0 ? i : 0)
                              : op == ABS    ? (i < 0 ? (int64_t)(0 - (uint64_t)i) : i)
                              : op == SQUARE ? (int64_t)((uint64_t)i * (uint64_t)i)
                              : op == TIMES  ? (int64_t)((uint64_t)i * (uint64_t)n)
                              : op == PLUS   ? (int64_t)((uint64_t)i + (uint64_t)n)
                                             : (i > n ? i : n));
    switch (op) {
    case NEG: y = -x; break;
    case RELU: y = x > 0 || x != x ? x : 0; break;
    case ABS: y = fabs(x); break;
    case SQUARE:
        y = x * x, far = 2 * times_far(x, far) + far * far + contracted(dtype, y);
        break;
    case TIMES: y = x * s, far = far * fabs(s) + contracted(dtype, y); break;
    case PLUS: y = x + s; break;
    case AT_LEAST: y = x > s || x != x ? x : s; break;
    case TANH: y = tanh(x), far += unit * fabs(y); break;
    case SIGMOID: y = sigmoid(x), far += unit * y + least; break;
    case SILU:
        y = x * sigmoid(x), far = 1.1 * far + unit * fabs(y) + least * fabs(x);
        break;
    case UNARIES: break;
    }
    return settled(dtype, y, far);
}

static array array_unary(const array *a, unary op, double s) {
    array r = array_new(a->d, a->dtype, a->at != NULL);
    for (int64_t i = 0; a->at && i < a->n; i++)
        r.at[i] = unary_of(op, s, a->dtype, a->at[i]);
    mark_rough(&r);
    return r;
}

static cell cast_of(int from, int to, cell a) {
    if (is_floating(from)) return settled(to, a.x, far_of(&a));
    return is_floating(to) ? settled(to, (double)a.i, 0) : integer(to, a.i);
}

static array array_cast(const array *a, int to) {
    array r = array_new(a->d, to, a->at != NULL);
    for (int64_t i = 0; a->at && i < a->n; i++) r.at[i] = cast_of(a->dtype, to, a->at[i]);
    mark_rough(&r);
    return r;
}

typedef enum binary { ADD, SUB, MUL, LARGER, SMALLER, BINARIES } binary;

static double larger(double x, double y) { return x != x || y != y ? x + y : fmax(x, y); }

static cell binary_of(binary op, int dtype, cell a, cell b) {
    uint64_t i = (uint64_t)a.i, k = (uint64_t)b.i;
    double x = a.x, y = b.x, far = far_of(&a) + far_of(&b);
    if (!is_floating(dtype))
        return integer(dtype, op == ADD      ? (int64_t)(i + k)
                              : op == SUB    ? (int64_t)(i - k)
                              : op == MUL    ? (int64_t)(i * k)
                              : op == LARGER ? (a.i > b.i ? a.i : b.i)
                                             : (a.i < b.i ? a.i : b.i));
    switch (op) {
    case ADD: return settled(dtype, x + y, far);
    case SUB: return settled(dtype, x - y, far);
    case MUL:
        return settled(dtype, x * y,
                       times_far(x, far_of(&b)) + times_far(y, far_of(&a)) +
                           times_far(a.far, b.far) + contracted(dtype, x * y));
    case LARGER: return settled(dtype, larger(x, y), far);
    default: return settled(dtype, -larger(-x, -y), far);
    }
}

static tc_dims common_sizes(tc_dims a, tc_dims b) {
    tc_dims d = a.rank > b.rank ? a : b, e = a.rank > b.rank ? b : a;
    for (int i = 0; i < e.rank; i++) {
        int64_t *s = &d.size[d.rank - e.rank + i];
        if (*s == 1) *s = e.size[i];
    }
    return d;
}

static array array_binary(const array *a, const array *b, binary op) {
    tc_dims d = common_sizes(a->d, b->d);
    array r = array_new(d, promoted(a->dtype, b->dtype), a->at && b->at);
    array x = array_expand(a, d), y = array_expand(b, d);
    for (int64_t i = 0; r.at && i < r.n; i++)
        r.at[i] = binary_of(op, r.dtype, cast_of(a->dtype, r.dtype, x.at[i]),
                            cast_of(b->dtype, r.dtype, y.at[i]));
    free(x.at), free(y.at);
    mark_rough(&r);
    return r;
}

// How far a sum may be whose terms are of `size` together. One that overflows on its way may be anything.
static double rounded_sum(int dtype, double units, double sum, double size) {
    if (!numerics_fast) return units * size;
    if (!isfinite(sum)) return 0;
    return dtype != TC_F64 && size > 1e37 ? INFINITY : units * size;
}

// ---- reductions: over the dimensions of a mask, which stay as 1 ----
typedef enum reduction { SUM, MEAN, LARGEST, REDUCTIONS } reduction;

static array array_reduce(const array *a, reduction how, unsigned mask) {
    tc_dims d = a->d, over = a->d;
    int64_t s[TC_MAX_RANK], outer[TC_MAX_RANK], inner[TC_MAX_RANK];
    int floating = is_floating(a->dtype);
    strides_of(&a->d, s);
    for (int i = 0; i < d.rank; i++)
        if (mask >> i & 1)
            d.size[i] = 1, outer[i] = 0, inner[i] = s[i];
        else
            over.size[i] = 1, outer[i] = s[i], inner[i] = 0;
    array r = array_new(d, how == SUM && !floating ? TC_I64 : a->dtype, a->at != NULL);
    int64_t n = size_of(&over);
    double unit = unit_of_dtype(a->dtype == TC_F64 ? TC_F64 : TC_F32);
    for (int64_t i = 0; a->at && i < r.n; i++) {
        long double sum = 0; // n roundings of it are not seen in a double
        double size = 0, far = 0, most = -INFINITY;
        int64_t whole = 0, top = INT64_MIN, first = place_in(&d, i, outer, 0);
        for (int64_t k = 0; k < n; k++) {
            const cell *c = &a->at[place_in(&over, k, inner, first)];
            sum += c->x, size += fabs(c->x), whole += c->i;
            far = how == LARGEST ? fmax(far, far_of(c)) : far + far_of(c);
            most = k ? larger(most, c->x) : c->x, top = c->i > top ? c->i : top;
        }
        if (!floating)
            r.at[i] = integer(r.dtype, how == LARGEST ? top : whole);
        else if (how == LARGEST)
            r.at[i] = settled(r.dtype, most, far);
        else {
            double by = how == MEAN ? (double)n : 1;
            far += rounded_sum(a->dtype, (double)(n / 32 + 24) * unit, (double)sum, size);
            r.at[i] = settled(r.dtype, (double)(sum / by), n > 1 ? far / by : far);
        }
    }
    mark_rough(&r);
    return r;
}

// Of the last dimension. A row of -infinity alone gives zeros where `attends`, else NaN.
static array array_softmax(const array *a, int attends) {
    array r = array_new(a->d, a->dtype, a->at != NULL);
    int64_t n = a->d.size[a->d.rank - 1];
    double unit = unit_of_dtype(a->dtype == TC_F64 ? TC_F64 : TC_F32);
    for (int64_t i = 0; a->at && i < a->n; i += n) {
        double top = -INFINITY, sum = 0, far = 0;
        for (int64_t k = i; k < i + n; k++) top = larger(top, a->at[k].x);
        for (int64_t k = i; k < i + n; k++) {
            double e = exp(a->at[k].x - top);
            sum += e;
            if (e != 0) far = fmax(far, a->at[k].far + unit * fabs(a->at[k].x - top));
            if (far_of(&a->at[k]) == INFINITY) far = INFINITY;
        }
        far = expm1(2 * far) + (double)(n / 32 + 32) * unit;
        for (int64_t k = i; k < i + n; k++) {
            double y = exp(a->at[k].x - top) / sum;
            if (attends && top == -INFINITY) y = 0;
            r.at[k] = settled(a->dtype, y, y == 0 ? 0x1p-100 : far * y);
        }
    }
    mark_rough(&r);
    return r;
}

// ---- sums of products ----
typedef struct total {
    float f;
    double x, size, far;
    long double wide; // where the result is within a bound
    uint64_t i;
    int64_t n;
    int flushes; // subnormal numbers may count as 0
    int fewer;   // what is rounded is bounded elsewhere: windows_fewer
} total;

static int may_flush(const array *a, const array *b) {
    return numerics_fast && a->dtype == TC_BF16 && b->dtype == TC_BF16;
}

// What `dtype` products add up in, of these factors.
static void total_add(total *t, int dtype, const cell *a, const cell *b, int rough) {
    if (!is_floating(dtype)) {
        t->i += (uint64_t)a->i * (uint64_t)b->i;
        return;
    }
    if (dtype == TC_F64 || unrounded)
        t->x += a->x * b->x;
    else
        t->f = fmaf((float)a->x, (float)b->x, t->f);
    if (!rough) return;
    t->wide += (long double)a->x * b->x;
    t->size += fabs(a->x * b->x), t->n++;
    t->far +=
        times_far(a->x, far_of(b)) + times_far(b->x, far_of(a)) + times_far(a->far, b->far);
    if (!t->flushes) return;
    t->far += 0x1p-126; // the sum so far, which may be subnormal
    if (fabs(a->x) - a->far < 0x1p-126 || fabs(b->x) - b->far < 0x1p-126 ||
        fabs(a->x * b->x) < 0x1p-126)
        t->far += isfinite(a->x * b->x) ? fabs(a->x * b->x) : INFINITY;
}

static cell total_of(const total *t, int dtype, int rough) {
    if (!is_floating(dtype)) return integer(dtype, (int64_t)t->i);
    double unit = unit_of_dtype(dtype == TC_F64 ? TC_F64 : TC_F32);
    if (!rough || unrounded)
        return settled(dtype, dtype == TC_F64 || unrounded ? t->x : (double)t->f, 0);
    double far = (double)(t->n + 4) * unit;
    far = t->fewer ? 0 : rounded_sum(dtype, far, (double)t->wide, t->size);
    return settled(dtype, (double)t->wide, t->far + far + 0x1p-140);
}

// [..., M, K] x [..., K, N]; as = dtype of the result.
static array array_matmul(const array *a, const array *b, int as) {
    tc_dims x = a->d, y = b->d, d;
    int64_t m = x.size[x.rank - 2], depth = x.size[x.rank - 1], n = y.size[y.rank - 1];
    int rough = a->rough | b->rough | (numerics_fast && is_floating(as));
    x.rank -= 2, y.rank -= 2, d = common_sizes(x, y);
    tc_dims e = d, g = d;
    e.size[e.rank++] = m, e.size[e.rank++] = depth;
    g.size[g.rank++] = depth, g.size[g.rank++] = n;
    int64_t batches = size_of(&d);
    d.size[d.rank++] = m, d.size[d.rank++] = n;
    array r = array_new(d, as, a->at && b->at);
    if (!r.at) return r;
    array left = array_expand(a, e), right = array_expand(b, g);
    for (int64_t i = 0; i < batches * m; i++)
        for (int64_t c = 0; c < n; c++) {
            total t;
            memset(&t, 0, sizeof t);
            t.flushes = may_flush(a, b);
            const cell *p = left.at + i * depth, *q = right.at + i / m * depth * n + c;
            for (int64_t k = 0; k < depth; k++) total_add(&t, as, p + k, q + k * n, rough);
            r.at[i * n + c] = total_of(&t, as, rough);
        }
    free(left.at), free(right.at);
    mark_rough(&r);
    return r;
}

// ---- convolutions: x[N, C, D, H, W], weight[O, C / groups, taps], transposed [C, O / groups, taps] ----
typedef struct windows {
    int transposed, groups, axes; // of three axes the last `axes` are there
    int64_t taps[3], stride[3], padding[3], dilation[3], more[3];
} windows;

static int64_t windows_out(const windows *w, int i, int64_t n) {
    int64_t reach = w->dilation[i] * (w->taps[i] - 1);
    if (w->transposed)
        return (n - 1) * w->stride[i] - 2 * w->padding[i] + reach + w->more[i] + 1;
    return n + 2 * w->padding[i] < reach + 1
               ? 0
               : (n + 2 * w->padding[i] - reach - 1) / w->stride[i] + 1;
}

// The element of axis i that counts for result `to` by a tap; -1 = none.
static int64_t windows_meet(const windows *w, int i, int64_t n, int64_t tap, int64_t to) {
    int64_t at = w->transposed ? to + w->padding[i] - tap * w->dilation[i]
                               : to * w->stride[i] - w->padding[i] + tap * w->dilation[i];
    if (w->transposed && at % w->stride[i]) return -1;
    if (w->transposed && at >= 0) at /= w->stride[i];
    return at < n ? at : -1;
}

enum { MOST_TAPS = 343 };

// Where in a channel the elements are that count for a result, by tap; -1 = none.
static void windows_places(const windows *w, const int64_t *n, const int64_t *to,
                           int64_t *place) {
    int64_t k = 0, z, y, x;
    for (int64_t a = 0; a < w->taps[0]; a++)
        for (int64_t b = 0; b < w->taps[1]; b++)
            for (int64_t c = 0; c < w->taps[2]; c++) {
                z = windows_meet(w, 0, n[0], a, to[0]);
                y = windows_meet(w, 1, n[1], b, to[1]);
                x = windows_meet(w, 2, n[2], c, to[2]);
                place[k++] = z < 0 || y < 0 || x < 0 ? -1 : (z * n[1] + y) * n[2] + x;
            }
}

// Over (channel, z, y, x) of an image of x, which is from the first tap on, of transposed ones from the last.
static cell windows_sum(const windows *w, const array *x, const cell *image,
                        const array *weight, int as, int64_t o, const int64_t *place,
                        int fewer) {
    const int64_t *n = x->d.size + 2, taps = w->taps[0] * w->taps[1] * w->taps[2];
    int64_t channels = x->d.size[1] / w->groups, cells = n[0] * n[1] * n[2];
    int64_t per = w->transposed ? weight->d.size[1] : weight->d.size[0] / w->groups;
    int64_t first = o / per * channels;
    int rough = x->rough | weight->rough | (numerics_fast && is_floating(as));
    total t;
    memset(&t, 0, sizeof t);
    t.flushes = may_flush(x, weight), t.fewer = fewer;
    for (int64_t c = 0; c < channels; c++) {
        int64_t row = w->transposed ? (first + c) * per + o % per : o * channels + c;
        for (int64_t i = 0; i < taps; i++) {
            int64_t k = w->transposed ? taps - 1 - i : i;
            const cell *factor = &weight->at[row * taps + k];
            if (place[k] < 0 && !isfinite(factor->x))
                t.far = INFINITY; // times a zero or not
            if (place[k] < 0) continue;
            total_add(&t, as, &image[(first + c) * cells + place[k]], factor, rough);
        }
    }
    return total_of(&t, as, rough);
}

// ---- convolutions in fewer products: tc_numerics of api/options.h ----

static int64_t out_channels(const windows *w, const array *weight) {
    return w->transposed ? weight->d.size[1] * w->groups : weight->d.size[0];
}

static int may_take_fewer(const windows *w, const array *x, const array *weight, int as) {
    int64_t c = x->d.size[1], o = out_channels(w, weight);
    if (!numerics_fast || unrounded || as != TC_F32 || w->groups != 1 || w->taps[0] != 1)
        return 0;
    for (int i = 1; i < 3; i++)
        if (w->taps[i] != 3 || w->stride[i] != 1 || w->dilation[i] != 1) return 0;
    return c >= 32 && o >= 32 && c % 8 == 0 && o % 8 == 0;
}

// The largest of an image's channels at each cell; NaN and infinity are the largest.
static double *largest_of_channels(const array *x, const cell *image) {
    int64_t cells = x->d.size[2] * x->d.size[3] * x->d.size[4];
    double *most = (double *)calloc((size_t)cells + 1, sizeof *most);
    for (int64_t i = 0; i < x->d.size[1] * cells; i++) {
        double size = fabs(image[i].x) + image[i].far;
        if (!isfinite(size)) size = INFINITY;
        most[i % cells] = fmax(most[i % cells], size);
    }
    return most;
}

// Of the 6 x 6 cells beside a result, wherever a tile begins: those it needs are within 3 of its own.
static double largest_beside(const windows *w, const array *x, const double *most,
                             const int64_t *to) {
    int64_t high = x->d.size[3], wide = x->d.size[4], shift = w->transposed ? 2 : 0;
    int64_t top = to[1] - w->padding[1] - 3, left = to[2] - w->padding[2] - 3;
    double r = 0;
    if (shift)
        top = to[1] + w->padding[1] - shift - 3, left = to[2] + w->padding[2] - shift - 3;
    for (int64_t i = top < 0 ? 0 : top; i < top + 9 && i < high; i++)
        for (int64_t k = left < 0 ? 0 : left; k < left + 9 && k < wide; k++)
            r = fmax(r, most[(to[0] * high + i) * wide + k]);
    return r;
}

// 9 C 2^-24 sum |w| max |x|, and whatever becomes of infinity or of what is beyond 1e36.
static void windows_fewer(const windows *w, const array *x, const array *weight, array *r) {
    int64_t cells = r->d.size[2] * r->d.size[3] * r->d.size[4], o = r->d.size[1];
    int64_t c = x->d.size[1];
    double *weights = (double *)calloc((size_t)o + 1, sizeof *weights);
    for (int64_t i = 0; i < weight->n; i++) {
        int64_t of = w->transposed ? i / 9 % o : i / (9 * c);
        weights[of] += fabs(weight->at[i].x) + weight->at[i].far;
    }
    for (int64_t n = 0; n < r->d.size[0]; n++) {
        double *most = largest_of_channels(x, x->at + n * (x->n / x->d.size[0]));
        for (int64_t at = 0; at < cells; at++) {
            int64_t to[3] = {at / (r->d.size[3] * r->d.size[4]),
                             at / r->d.size[4] % r->d.size[3], at % r->d.size[4]};
            double large = largest_beside(w, x, most, to);
            for (int64_t k = 0; k < o; k++) {
                cell *y = &r->at[(n * o + k) * cells + at];
                double far = (double)(9 * c) * 0x1p-24 * (weights[k] * large);
                y->far += far;
                if (!(weights[k] * large < 1e36)) y->far = INFINITY;
            }
        }
        free(most);
    }
    free(weights);
}

// [N, O, D', H', W'] of arrays of five dimensions.
static array array_windows(const array *x, const array *weight, const windows *w, int as) {
    tc_dims d = x->d;
    d.size[1] = out_channels(w, weight);
    for (int i = 0; i < 3; i++) d.size[2 + i] = windows_out(w, i, x->d.size[2 + i]);
    array r = array_new(d, as, x->at && weight->at);
    int64_t cells = d.size[2] * d.size[3] * d.size[4], place[MOST_TAPS];
    int64_t of_image = x->n / x->d.size[0];
    int fewer = may_take_fewer(w, x, weight, as);
    for (int64_t at = 0; r.at && at < cells; at++) {
        int64_t to[3] = {at / (d.size[3] * d.size[4]), at / d.size[4] % d.size[3],
                         at % d.size[4]};
        windows_places(w, x->d.size + 2, to, place);
        for (int64_t i = at; i < r.n; i += cells)
            r.at[i] = windows_sum(w, x, x->at + i / cells / d.size[1] * of_image, weight,
                                  as, i / cells % d.size[1], place, fewer);
    }
    if (r.at && fewer) windows_fewer(w, x, weight, &r);
    mark_rough(&r);
    return r;
}

// Windows of the last two dimensions: the largest, where a mean is not asked for; zeros around count for a mean.
static array array_pool(const array *x, const windows *w, int mean) {
    tc_dims d = x->d;
    int rank = d.rank, count = (int)(w->taps[1] * w->taps[2]);
    int64_t h = d.size[rank - 2], wide = d.size[rank - 1];
    double unit = unit_of_dtype(x->dtype == TC_F64 ? TC_F64 : TC_F32);
    d.size[rank - 2] = windows_out(w, 1, h), d.size[rank - 1] = windows_out(w, 2, wide);
    int64_t cells = d.size[rank - 2] * d.size[rank - 1];
    array r = array_new(d, x->dtype, x->at != NULL);
    for (int64_t i = 0; r.at && i < r.n; i++) {
        double sum = 0, size = 0, far = 0, most = -INFINITY;
        int64_t top = INT64_MIN;
        for (int k = 0; k < count; k++) {
            int64_t u = windows_meet(w, 1, h, k / w->taps[2], i % cells / d.size[rank - 1]);
            int64_t v = windows_meet(w, 2, wide, k % w->taps[2], i % d.size[rank - 1]);
            if (u < 0 || v < 0) continue;
            const cell *c = &x->at[(i / cells * h + u) * wide + v];
            sum += c->x, size += fabs(c->x), most = larger(most, c->x);
            far = mean ? far + far_of(c) : fmax(far, far_of(c)),
            top = c->i > top ? c->i : top;
        }
        if (!is_floating(x->dtype))
            r.at[i] = integer(x->dtype, top);
        else if (mean)
            r.at[i] = settled(
                x->dtype, sum / count,
                (far + 0x1p-140 + rounded_sum(x->dtype, (count + 4) * unit, sum, size)) /
                    count);
        else
            r.at[i] = settled(x->dtype, most, far);
    }
    mark_rough(&r);
    return r;
}

#endif
