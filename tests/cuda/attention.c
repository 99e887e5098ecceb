// Attention on a GPU or on the emulator: forward and gradients, composite and in plain ops, against softmax and its
// derivatives in double. That a forward is one kernel is a count. `./build.sh test cuda/attention --host` asks the same
// of the CPU, with --verbose each case tells how near it came to what is allowed.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "halves.h"
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum {
    CAUSAL = 1,
    MASK_BOOL = 2,  // random, one for all heads; a row sees column row % n, but of
    EMPTY_ROW = 4,  // one row, which sees nothing
    MASK_FLOAT = 8, // f32, added to the scores, -inf for some; makes the result f32
    MASK_HALF = 16, // the same in the dtype of q
    WINDOW = 32,    // the last SEEN columns, by position: a mask, of plain ops a condition
    PLAIN = 64,     // matmul, mul, where, softmax, matmul
    GQA = 128,      // GROUP heads of q have one of k and v
    STRIDED = 256,  // q, k and v are views of one [batch, rows, 3, heads, d]
    TRAIN = 512,    // gradients of q, k and v
    OWN_SCALE = 1024,  // not 1 / sqrt(d)
    NO_NUMBERS = 2048, // some of q and k are NaN or infinite
};

enum { SEEN = 24, GROUP = 4 };

typedef struct attention {
    int dtype, batch, heads, m, n, d, dv, flags;
    int kernels; // of the forward; 0 = not checked
} attention;

// ---- operands, rounded to what the device has

typedef enum part { Q, K, V, OUT, PARTS } part;

// Arrays have the order of memory. Of OUT, value is the gradient that it gets, want and have are the result; of the
// others those are gradients.
typedef struct operand {
    tc_tensor tensor;
    int64_t count;
    double *value, *want, *noise, *have; // noise: the square of what rounding does to want
} operand;

typedef struct job {
    const attention *a;
    tc_ctx *tc;
    operand of[PARTS]; // STRIDED: Q has K and V, too
    double *added;     // [m, n], by the mask; -inf = unseen
    tc_tensor mask;
} job;

static const char *device_name(void) { return test_option("--host") ? "cpu" : DEVICE_NAME; }

static half_format format_of(const attention *a) {
    return a->dtype == TC_F16 ? half_f16 : half_bf16;
}

static double scale_of(const attention *a) {
    return a->flags & OWN_SCALE ? 0.3 : 1 / sqrt(a->d);
}

// Heads as a dimension, or groups and heads of a group.
static tc_dims sizes_of(const attention *a, part p) {
    int shared = a->flags & GQA && (p == K || p == V),
        rows = p == K || p == V ? a->n : a->m, width = p == Q || p == K ? a->d : a->dv;
    if (a->flags & STRIDED && p == Q) return TC_DIMS(a->batch, a->m, 3, a->heads, a->d);
    if (!(a->flags & GQA)) return TC_DIMS(a->batch, a->heads, rows, width);
    return TC_DIMS(a->batch, a->heads / GROUP, shared ? 1 : GROUP, rows, width);
}

static operand *operand_of(job *j, part p) {
    return &j->of[j->a->flags & STRIDED && p != OUT ? Q : p];
}

// Where head h of q has its rows in the arrays of operand_of(p), `step` apart.
static int64_t place_of(const attention *a, part p, int64_t h, int64_t *step) {
    int64_t width = p == Q || p == K ? a->d : a->dv, rows = p == K || p == V ? a->n : a->m;
    int64_t each = (int64_t)a->heads * a->d;
    if (a->flags & STRIDED && p != OUT) {
        *step = 3 * each;
        return (h / a->heads * a->m * 3 + (int64_t)p) * each + h % a->heads * a->d;
    }
    if (a->flags & GQA && (p == K || p == V)) h /= GROUP;
    *step = width;
    return h * rows * width;
}

// Scores are several apart, so that each column is another share.
static double amplitude(const job *j, part p, int64_t i) {
    int64_t each = (int64_t)j->a->heads * j->a->d;
    return p == Q && !(j->a->flags & STRIDED && i / each % 3) ? 4 : 1;
}

// Of q and k of each head one row is infinite at one place, one NaN.
static double spoilt(const attention *a, part p, int64_t i, double x) {
    int64_t rows = p == Q ? a->m : a->n, row = i / a->d % rows, place = i % a->d;
    if (p != Q && p != K) return x;
    if (place == 3 && row == rows / 2) return (double)INFINITY;
    return place == 5 && row == rows * 3 / 4 ? (double)NAN : x;
}

static tc_tensor to_device(tc_tensor here) {
    tc_tensor there = tc_to(here, device_name());
    tc_free(here);
    return there;
}

static void operand_open(job *j, part p) {
    operand *o = &j->of[p];
    tc_dims d = sizes_of(j->a, p);
    half_format f = format_of(j->a);
    o->count = 1;
    for (int i = 0; i < d.rank; i++) o->count *= d.size[i];
    uint16_t *bits = (uint16_t *)malloc(sizeof *bits * (size_t)o->count);
    o->value = (double *)calloc((size_t)o->count * 4, sizeof(double));
    o->want = o->value + o->count, o->noise = o->want + o->count;
    o->have = o->noise + o->count;
    for (int64_t i = 0; i < o->count; i++) {
        double x = amplitude(j, p, i) * test_number((uint32_t)i, (uint32_t)p + 1);
        if (j->a->flags & NO_NUMBERS) x = spoilt(j->a, p, i, x);
        bits[i] = half_nearest(f, x), o->value[i] = half_value(f, bits[i]);
    }
    o->tensor = to_device(tc_from_data(j->tc, bits, d, (tc_dtype)j->a->dtype));
    free(bits);
}

// What a mask adds to the score of row r and column c.
static double added_at(const attention *a, int r, int c) {
    uint32_t i = (uint32_t)r * (uint32_t)a->n + (uint32_t)c;
    int own = c == r % a->n, unseen = 0;
    int adds = a->flags & (MASK_FLOAT | MASK_HALF);
    double x = adds ? 2 * test_number(i, 11) : 0;
    if (a->flags & MASK_BOOL) unseen |= !own && test_word(i, 12) % 3 == 0;
    if (adds) unseen |= !own && test_word(i, 13) % 5 == 0;
    if (a->flags & EMPTY_ROW) unseen |= r == a->m / 2;
    return unseen ? -(double)INFINITY : x;
}

static void mask_open(job *j) {
    const attention *a = j->a;
    int64_t count = (int64_t)a->m * a->n;
    float *numbers = (float *)malloc(sizeof *numbers * (size_t)count);
    uint16_t *halves = (uint16_t *)malloc(sizeof *halves * (size_t)count);
    uint8_t *bools = (uint8_t *)malloc((size_t)count);
    j->added = (double *)malloc(sizeof *j->added * (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = (float)added_at(a, (int)(i / a->n), (int)(i % a->n));
        halves[i] = half_nearest(format_of(a), (double)numbers[i]);
        j->added[i] =
            a->flags & MASK_HALF ? half_value(format_of(a), halves[i]) : (double)numbers[i];
        bools[i] = j->added[i] == 0;
    }
    tc_dims d = TC_DIMS(a->m, a->n);
    if (a->flags & MASK_FLOAT) j->mask = to_device(tc_from_data(j->tc, numbers, d, TC_F32));
    if (a->flags & MASK_BOOL) j->mask = to_device(tc_from_data(j->tc, bools, d, TC_BOOL));
    if (a->flags & MASK_HALF)
        j->mask = to_device(tc_from_data(j->tc, halves, d, (tc_dtype)a->dtype));
    free(numbers), free(halves), free(bools);
}

static void job_open(job *j, tc_ctx *tc, const attention *a) {
    memset(j, 0, sizeof *j);
    j->a = a, j->tc = tc;
    for (part p = Q; p < PARTS; p = (part)(p + 1))
        if (operand_of(j, p) == &j->of[p]) operand_open(j, p);
    mask_open(j);
}

static void job_close(job *j) {
    for (int p = 0; p < PARTS; p++) {
        free(j->of[p].value);
        tc_free(j->of[p].tensor);
    }
    free(j->added), tc_free(j->mask);
}

// NULL = there is none, which is reported.
static tc_ctx *context_open(void) {
    tc_ctx *tc = open_backend("cpu");
    if (test_option("--host") || open_device(tc)) return tc;
    tc_close(tc);
    return NULL;
}

static void context_close(tc_ctx *tc) {
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

// ---- the same in double

// How far off a rounded x may be: u of it, and what subnormals are apart.
static double unit_of(const attention *a) { return half_power(-format_of(a).digits - 1); }

static double rounding(const attention *a, double x) {
    half_format f = format_of(a);
    return x == 0 ? 0 : unit_of(a) * fabs(x) + half_power(f.lowest - f.digits - 1);
}

// A head of q and what belongs to it: rows `step` apart.
typedef struct lines {
    const double *value;
    double *want, *noise;
    int64_t step;
} lines;

static lines lines_of(job *j, part p, int64_t h) {
    lines l;
    operand *o = operand_of(j, p);
    int64_t at = place_of(j->a, p, h, &l.step);
    l.value = o->value + at, l.want = o->want + at, l.noise = o->noise + at;
    return l;
}

// Of one row of scores: shares, what rounding does to them, and derivatives.
typedef struct shares {
    double *score, *p, *off; // [n]
    double *slope, *slope_off;
    double common; // off, for all columns alike, as a part of p
} shares;

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// What conditions leave out is so whatever its score is; -inf that is added to NaN is NaN.
static int is_seen(const attention *a, int r, int c, double added) {
    if (a->flags & MASK_BOOL && added < 0) return 0;
    if (a->flags & CAUSAL && c > r) return 0;
    return !(a->flags & WINDOW) || (c <= r && c > r - SEEN);
}

// Plain ops give NaN where nothing is seen, and round the product that scores are.
static void want_shares(const job *j, const lines *x, int r, shares *s) {
    const attention *a = j->a;
    double top = -(double)INFINITY, sum = 0;
    for (int c = 0; c < a->n; c++) {
        s->score[c] = -(double)INFINITY;
        if (is_seen(a, r, c, j->added[(int64_t)r * a->n + c]))
            s->score[c] = j->added[(int64_t)r * a->n + c] +
                          scale_of(a) * dot(x[Q].value + r * x[Q].step,
                                            x[K].value + c * x[K].step, a->d);
        if (s->score[c] > top) top = s->score[c];
    }
    if (top == -(double)INFINITY) top = 0;
    for (int c = 0; c < a->n; c++) sum += s->p[c] = exp(s->score[c] - top);
    if (sum == 0 && !(a->flags & PLAIN)) sum = 1;
    for (int c = 0; c < a->n; c++) {
        s->p[c] /= sum, s->off[c] = rounding(a, s->p[c]);
        if (a->flags & PLAIN && s->p[c] > 0)
            s->off[c] += s->p[c] * rounding(a, s->score[c]);
    }
}

static void want_out(const job *j, const lines *x, int r, const shares *s) {
    double *want = x[OUT].want + r * x[OUT].step, *noise = x[OUT].noise + r * x[OUT].step;
    for (int c = 0; c < j->a->n; c++) {
        const double *v = x[V].value + c * x[V].step;
        for (int i = 0; i < j->a->dv; i++)
            want[i] += s->p[c] * v[i], noise[i] += s->off[c] * s->off[c] * v[i] * v[i];
    }
}

static double square(double x) { return x * x; }

// dP = dO V^T, D = sum of dP P, dS = P (dP - D) scale. dP may be rounded, D be the sum of dO O with a rounded O.
static void want_slopes(const job *j, const lines *x, int r, shares *s) {
    const attention *a = j->a;
    const double *up = x[OUT].value + r * x[OUT].step, *out = x[OUT].want + r * x[OUT].step;
    double sum = 0, off = 0, scale = scale_of(a);
    for (int i = 0; i < a->dv; i++) off += square(up[i] * rounding(a, out[i]));
    for (int c = 0; c < a->n; c++) {
        double slope = dot(up, x[V].value + c * x[V].step, a->dv);
        s->slope[c] = slope, sum += s->p[c] * slope;
        off += square(s->off[c] * slope) + square(s->p[c] * rounding(a, slope));
    }
    s->common = sqrt(off) * scale;
    for (int c = 0; c < a->n; c++) {
        double slope = s->slope[c], *to = &s->slope[c];
        *to = s->p[c] * (slope - sum) * scale;
        s->slope_off[c] = square(s->off[c] * (slope - sum) * scale) +
                          square(rounding(a, *to)) +
                          square(s->p[c] * rounding(a, slope) * scale);
    }
}

// Of groups, the sums of each head are rounded before they are added: as much again, where terms have any signs.
static void want_gradients(const job *j, const lines *x, int r, const shares *s) {
    const attention *a = j->a;
    const double *q = x[Q].value + r * x[Q].step, *up = x[OUT].value + r * x[OUT].step;
    double *dq = x[Q].want + r * x[Q].step, *noise = x[Q].noise + r * x[Q].step;
    double times = a->flags & GQA ? 2 : 1;
    for (int c = 0; c < a->n; c++) {
        const double *k = x[K].value + c * x[K].step;
        double *dk = x[K].want + c * x[K].step, *dk_noise = x[K].noise + c * x[K].step,
               *dv = x[V].want + c * x[V].step, *dv_noise = x[V].noise + c * x[V].step;
        double off = s->slope_off[c], both = off + square(s->p[c] * s->common);
        for (int i = 0; i < a->d; i++) {
            dq[i] += s->slope[c] * k[i], noise[i] += off * square(k[i]);
            dk[i] += s->slope[c] * q[i], dk_noise[i] += times * both * square(q[i]);
        }
        for (int i = 0; i < a->dv; i++)
            dv[i] += s->p[c] * up[i], dv_noise[i] += times * square(s->off[c] * up[i]);
    }
    for (int i = 0; i < a->d; i++) {
        double mean = 0;
        for (int c = 0; c < a->n; c++) mean += s->p[c] * x[K].value[c * x[K].step + i];
        noise[i] += square(s->common * mean);
    }
}

static void want_all(job *j) {
    const attention *a = j->a;
    size_t n = (size_t)a->n;
    double *room = (double *)calloc(5 * n, sizeof *room);
    shares s = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, 0};
    for (int64_t h = 0; h < (int64_t)a->batch * a->heads; h++) {
        lines x[PARTS];
        for (part p = Q; p < PARTS; p = (part)(p + 1)) x[p] = lines_of(j, p, h);
        for (int r = 0; r < a->m; r++) {
            want_shares(j, x, r, &s);
            want_out(j, x, r, &s);
            if (!(a->flags & TRAIN)) continue;
            want_slopes(j, x, r, &s);
            want_gradients(j, x, r, &s);
        }
    }
    free(room);
}

// ---- the code under test

static tc_tensor window_of(const job *j, int causal) {
    tc_tensor column = tc_arange(j->tc, 0, j->a->n, 1, TC_I64),
              row = tc_unsqueeze(tc_arange(j->tc, 0, j->a->m, 1, TC_I64), 1);
    tc_tensor past = tc_ge(row, column);
    if (causal) return past;
    return tc_logical_and(tc_lt_s(tc_sub(row, column), SEEN), past);
}

static tc_tensor plain(const job *j, tc_tensor q, tc_tensor k, tc_tensor v) {
    tc_tensor s = tc_matmul(q, tc_transpose(k, -2, -1));
    s = tc_mul_s(tc_cast(s, TC_F32), scale_of(j->a));
    if (j->a->flags & (CAUSAL | WINDOW))
        s = tc_where(window_of(j, j->a->flags & CAUSAL), s,
                     tc_full(j->tc, TC_SCALAR, -(double)INFINITY, TC_F32));
    return tc_matmul(tc_cast(tc_softmax(s, -1), (tc_dtype)j->a->dtype), v);
}

static tc_tensor attend(const job *j) {
    const attention *a = j->a;
    tc_tensor x[3], mask = j->mask;
    for (int p = 0; p < 3; p++) x[p] = j->of[p].tensor;
    if (a->flags & STRIDED) {
        tc_tensor all = tc_permute(x[0], TC_DIMS(2, 0, 3, 1, 4));
        for (int p = 0; p < 3; p++) x[p] = tc_select(all, 0, p);
    }
    if (a->flags & PLAIN) return plain(j, x[Q], x[K], x[V]);
    if (a->flags & WINDOW) mask = window_of(j, 0);
    return tc_scaled_dot_product_attention(x[Q], x[K], x[V], mask, a->flags & CAUSAL,
                                           a->flags & OWN_SCALE ? scale_of(a) : 0);
}

// A result, which an f32 mask makes f32.
static void read_result(const job *j, tc_tensor t, operand *o) {
    int wide = tc_dtype_of(t) == TC_F32;
    size_t size = (wide ? sizeof(float) : sizeof(uint16_t)) * (size_t)o->count;
    float *numbers = (float *)malloc(size);
    const uint16_t *bits = (const uint16_t *)(const void *)numbers;
    CHECK_EQ(tc_read(t, numbers, size), TC_OK);
    for (int64_t i = 0; i < o->count; i++)
        o->have[i] = wide ? (double)numbers[i] : half_value(format_of(j->a), bits[i]);
    free(numbers);
}

static void run_job(job *j) {
    int train = j->a->flags & TRAIN;
    for (int p = 0; p < 3 && train; p++) // from zeros
        if (j->of[p].count) tc_requires_grad(j->of[p].tensor, 1);
    tc_trace_begin_at(j->tc, "attention", NULL, "attention.c", 1);
    tc_tensor y = tc_keep(attend(j));
    if (train) {
        tc_tensor up = tc_cast(j->of[OUT].tensor, TC_F32);
        tc_backward(tc_sum_all(tc_mul(tc_cast(y, TC_F32), up)));
    }
    CHECK_EQ(tc_trace_end(j->tc), TC_OK);
    read_result(j, y, &j->of[OUT]);
    tc_free(y);
    for (int p = 0; p < 3 && train; p++) {
        if (!j->of[p].count) continue;
        read_result(j, tc_grad_of(j->of[p].tensor), &j->of[p]);
        tc_requires_grad(j->of[p].tensor, 0);
    }
}

// ---- comparison

static const char *flags_of(const attention *a) {
    static const char *const names[] = {
        "CAUSAL", "MASK_BOOL", "EMPTY_ROW", "MASK_FLOAT", "MASK_HALF", "WINDOW",
        "PLAIN",  "GQA",       "STRIDED",   "TRAIN",      "OWN_SCALE", "NO_NUMBERS"};
    static char text[200];
    text[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (a->flags >> i & 1) strcat(strcat(text, " "), names[i]);
    return text;
}

static const char *name_of(const attention *a) {
    static char text[300];
    snprintf(text, sizeof text, "%s %dx%d heads, %d rows, %d columns, d %d, dv %d,%s",
             a->dtype == TC_F16 ? "f16" : "bf16", a->batch, a->heads, a->m, a->n, a->d,
             a->dv, flags_of(a));
    return text;
}

// Each factor of a product is rounded once, by at most a unit u of it, and so is the result. Roundings are as good as
// independent: their squares add up to noise, of which 3 times the root is 5 standard deviations and more, as that of
// one is at most u / sqrt(3) of the number. Where factors are alike their roundings are, too, and scale the result: one
// more u of it.
static double near_of(const attention *a, double want, double noise) {
    return unit_of(a) * fabs(want) + rounding(a, want) + 3 * sqrt(noise);
}

static double worst; // part of what is allowed, of all elements of a case

// One line for each part that is wrong: a test shows 20.
static void check_part(const job *j, part p) {
    static const char *const names[PARTS] = {"dq", "dk", "dv", "out"};
    const operand *o = &j->of[p];
    int64_t wrong = 0, first = 0;
    for (int64_t i = 0; i < o->count; i++) {
        double have = o->have[i], want = o->want[i], off = fabs(have - want),
               near = near_of(j->a, want, o->noise[i]);
        if (want != want ? have != have : off <= near) {
            if (off > worst * near) worst = off / near;
            continue;
        }
        if (!wrong++) first = i;
    }
    if (!wrong) return;
    FAIL("%lld of %lld of %s, [%lld] is %.9g, not %.9g +- %.3g: %s", (long long)wrong,
         (long long)o->count, j->a->flags & STRIDED && p == Q ? "dqkv" : names[p],
         (long long)first, o->have[first], o->want[first],
         near_of(j->a, o->want[first], o->noise[first]), name_of(j->a));
}

static void check_in(tc_ctx *tc, const attention *a) {
    job j;
    worst = 0;
    job_open(&j, tc, a);
    run_job(&j);
    want_all(&j);
    check_part(&j, OUT);
    for (part p = Q; p < OUT && a->flags & TRAIN; p = (part)(p + 1)) check_part(&j, p);
    int kernels = tc_region_kernels(tc, "attention");
    if (a->kernels && kernels != a->kernels && !test_option("--host"))
        FAIL("%d kernels, not %d: %s", kernels, a->kernels, name_of(a));
    if (test_option("--verbose"))
        printf("%s: %d kernels, worst %.2f: %s\n", test_name, kernels, worst, name_of(a));
    job_close(&j);
}

static void check_attention(const attention *a) {
    tc_ctx *tc = context_open();
    REQUIRE(tc);
    check_in(tc, a);
    context_close(tc);
}

#define ATTENTION(name, ...)                                                               \
    TEST(name) {                                                                           \
        static const attention a[] = {__VA_ARGS__};                                        \
        for (size_t i = 0; i < sizeof a / sizeof *a; i++) check_attention(&a[i]);          \
    }

// Too much for the emulator.
#define LARGE_ATTENTION(name, ...)                                                         \
    TEST(name) {                                                                           \
        static const attention a[] = {__VA_ARGS__};                                        \
        if (!device_is_real && !test_option("--host")) SKIP("the emulator takes minutes"); \
        for (size_t i = 0; i < sizeof a / sizeof *a; i++) check_attention(&a[i]);          \
    }

// ---- dtype, batch, heads, rows, columns, d, dv, flags, kernels

ATTENTION(one_kernel, {TC_BF16, 1, 2, 128, 128, 64, 64, CAUSAL, 1},
          {TC_F16, 1, 1, 128, 128, 64, 64, 0, 1},
          {TC_BF16, 1, 1, 128, 128, 64, 64, PLAIN, 1},
          {TC_F16, 1, 2, 128, 128, 64, 64, PLAIN | CAUSAL, 1})

ATTENTION(sizes_of_heads, {TC_BF16, 1, 2, 64, 64, 16, 16, CAUSAL, 0},
          {TC_F16, 1, 2, 64, 64, 40, 40, OWN_SCALE, 0},
          {TC_BF16, 1, 1, 64, 128, 80, 80, CAUSAL, 0},
          {TC_F16, 1, 1, 64, 64, 128, 128, CAUSAL, 0},
          {TC_BF16, 1, 1, 64, 64, 256, 256, 0, 0})

ATTENTION(values_of_another_size, {TC_BF16, 1, 2, 64, 64, 64, 40, CAUSAL, 0},
          {TC_F16, 1, 1, 64, 64, 40, 128, 0, 0}, {TC_BF16, 2, 1, 64, 64, 16, 24, PLAIN, 0})

ATTENTION(odd_rows_and_columns, {TC_BF16, 1, 2, 1, 64, 64, 64, 0, 0},
          {TC_F16, 1, 1, 17, 33, 64, 64, CAUSAL, 0}, {TC_BF16, 2, 2, 65, 127, 40, 40, 0, 0},
          {TC_F16, 1, 2, 100, 200, 64, 64, CAUSAL, 0},
          {TC_BF16, 1, 1, 17, 200, 128, 128, MASK_BOOL, 0},
          {TC_F16, 1, 3, 65, 33, 16, 16, PLAIN, 0})

ATTENTION(columns_and_rows_of_causal, {TC_BF16, 1, 2, 100, 64, 64, 64, CAUSAL, 0},
          {TC_F16, 1, 1, 65, 200, 40, 40, CAUSAL, 0},
          {TC_BF16, 1, 1, 128, 33, 64, 64, CAUSAL | PLAIN, 0})

ATTENTION(masks, {TC_BF16, 1, 2, 65, 127, 64, 64, MASK_BOOL, 0},
          {TC_F16, 2, 1, 64, 64, 40, 40, MASK_BOOL | EMPTY_ROW, 0},
          {TC_BF16, 1, 2, 100, 128, 64, 64, MASK_FLOAT, 0},
          {TC_BF16, 1, 1, 64, 200, 64, 64, MASK_BOOL | CAUSAL, 0},
          {TC_BF16, 1, 2, 100, 128, 64, 64, MASK_HALF, 0},
          {TC_F16, 1, 1, 64, 127, 40, 40, MASK_HALF | CAUSAL | EMPTY_ROW, 0})

// Of 100 rows and 64 columns some see nothing.
ATTENTION(windows, {TC_BF16, 1, 2, 128, 128, 64, 64, WINDOW, 0},
          {TC_F16, 1, 1, 100, 64, 40, 40, WINDOW, 0},
          {TC_F16, 1, 2, 128, 128, 64, 64, WINDOW | PLAIN, 0},
          {TC_BF16, 1, 1, 100, 64, 64, 64, WINDOW | PLAIN, 0})

ATTENTION(heads_of_groups, {TC_BF16, 2, 4, 64, 64, 64, 64, GQA | CAUSAL, 0},
          {TC_F16, 1, 8, 17, 100, 40, 64, GQA, 0})

ATTENTION(parts_of_a_projection, {TC_BF16, 2, 2, 64, 64, 64, 64, STRIDED | CAUSAL, 0},
          {TC_F16, 1, 3, 100, 100, 40, 40, STRIDED, 0},
          {TC_BF16, 1, 2, 128, 128, 64, 64, STRIDED | PLAIN | CAUSAL, 0})

ATTENTION(gradients, {TC_BF16, 1, 2, 128, 128, 64, 64, TRAIN | CAUSAL, 0},
          {TC_F16, 1, 1, 64, 64, 64, 64, TRAIN, 0},
          {TC_BF16, 2, 1, 65, 33, 40, 40, TRAIN | CAUSAL, 0},
          {TC_F16, 1, 1, 64, 64, 128, 128, TRAIN | CAUSAL | OWN_SCALE, 0})

ATTENTION(gradients_of_plain_ops, {TC_BF16, 1, 2, 128, 128, 64, 64, TRAIN | PLAIN, 0},
          {TC_BF16, 1, 1, 100, 100, 40, 40, TRAIN | PLAIN | WINDOW, 0})

ATTENTION(gradients_behind_masks, {TC_F16, 1, 2, 64, 64, 64, 64, TRAIN | MASK_BOOL, 0},
          {TC_BF16, 1, 1, 65, 127, 40, 40, TRAIN | MASK_BOOL | EMPTY_ROW, 0},
          {TC_F16, 1, 1, 64, 128, 64, 64, TRAIN | MASK_HALF, 0},
          {TC_F16, 1, 1, 64, 100, 64, 64, TRAIN | WINDOW, 0})

ATTENTION(gradients_of_groups, {TC_BF16, 1, 8, 64, 64, 40, 40, TRAIN | GQA | CAUSAL, 0})

ATTENTION(gradients_of_a_projection,
          {TC_BF16, 2, 2, 64, 64, 64, 64, TRAIN | STRIDED | CAUSAL, 0})

// Rows of NaN, and infinite scores; who does not see them has numbers.
ATTENTION(what_is_no_number, {TC_BF16, 1, 2, 128, 128, 64, 64, NO_NUMBERS | CAUSAL, 0},
          {TC_F16, 1, 2, 100, 65, 40, 40, NO_NUMBERS | WINDOW, 0},
          {TC_F16, 1, 1, 64, 64, 40, 40, NO_NUMBERS | MASK_BOOL, 0},
          {TC_BF16, 1, 1, 17, 64, 64, 64, NO_NUMBERS, 0},
          {TC_BF16, 1, 2, 128, 128, 64, 64, NO_NUMBERS | PLAIN | WINDOW, 0})

// More rows than a block has, and more columns than the ring: what a device with tensor maps brings by itself. Groups share
// keys, and heads of a projection lie in two strides.
ATTENTION(blocks_of_rows, {TC_BF16, 1, 3, 300, 333, 64, 64, CAUSAL, 1},
          {TC_F16, 1, 1, 130, 700, 128, 128, 0, 1},
          {TC_BF16, 1, 1, 200, 260, 80, 96, CAUSAL, 0},
          {TC_BF16, 1, 1, 150, 400, 64, 64, WINDOW, 0},
          {TC_F16, 2, 4, 77, 150, 64, 64, GQA | CAUSAL, 0},
          {TC_BF16, 2, 2, 100, 100, 64, 64, STRIDED | CAUSAL, 0})

ATTENTION(gradients_of_blocks, {TC_BF16, 1, 1, 300, 300, 64, 64, TRAIN | CAUSAL, 0},
          {TC_F16, 1, 1, 77, 200, 128, 128, TRAIN, 0},
          {TC_BF16, 2, 4, 77, 77, 64, 64, TRAIN | GQA, 0},
          {TC_F16, 2, 2, 100, 100, 64, 64, TRAIN | STRIDED | CAUSAL, 0})

// Keys and values by one kernel, also where their heads are not of one size, rows are odd, and nobody sees the last keys.
ATTENTION(gradients_of_a_pair, {TC_BF16, 1, 2, 130, 130, 96, 96, TRAIN | CAUSAL, 0},
          {TC_F16, 1, 1, 201, 131, 64, 128, TRAIN, 0},
          {TC_BF16, 1, 1, 129, 333, 128, 64, TRAIN | CAUSAL, 0},
          {TC_F16, 1, 1, 100, 150, 64, 64, TRAIN | MASK_BOOL, 0},
          {TC_BF16, 1, 4, 66, 66, 128, 128, TRAIN | GQA | CAUSAL | OWN_SCALE, 0})

LARGE_ATTENTION(large, {TC_BF16, 2, 12, 1024, 1024, 64, 64, CAUSAL, 1},
                {TC_F16, 1, 4, 1000, 1000, 128, 128, STRIDED | CAUSAL, 0},
                {TC_BF16, 1, 2, 4096, 4096, 64, 64, 0, 0},
                {TC_F16, 1, 2, 777, 2049, 80, 96, MASK_FLOAT, 0},
                {TC_F16, 1, 1, 128, 64, 80, 80, MASK_FLOAT | CAUSAL | EMPTY_ROW, 0},
                {TC_BF16, 1, 2, 2048, 2048, 64, 64, WINDOW | PLAIN, 0},
                {TC_BF16, 1, 16, 300, 1500, 256, 256, GQA, 0})

LARGE_ATTENTION(large_gradients, {TC_BF16, 2, 4, 1024, 1024, 64, 64, TRAIN | CAUSAL, 0},
                {TC_BF16, 1, 2, 1000, 1000, 128, 128, TRAIN | CAUSAL, 0},
                {TC_F16, 4, 40, 300, 300, 64, 64, TRAIN | STRIDED, 0},
                {TC_F16, 1, 4, 500, 500, 128, 128, TRAIN | STRIDED | CAUSAL, 0},
                {TC_BF16, 2, 3, 1025, 640, 64, 128, TRAIN | CAUSAL, 0},
                {TC_F16, 1, 2, 640, 2049, 128, 64, TRAIN, 0},
                {TC_BF16, 2, 8, 515, 515, 96, 96, TRAIN | GQA | CAUSAL, 0},
                {TC_BF16, 3, 50, 260, 260, 64, 64, TRAIN | CAUSAL, 0},
                {TC_BF16, 1, 2, 777, 1200, 80, 80, TRAIN | MASK_BOOL, 0},
                {TC_BF16, 1, 8, 512, 1024, 64, 64, TRAIN | GQA, 0},
                {TC_F16, 1, 2, 1024, 1024, 64, 64, TRAIN | PLAIN | WINDOW, 0},
                {TC_BF16, 1, 1, 1030, 515, 256, 256, TRAIN, 0},
                {TC_F16, 1, 2, 17, 100, 64, 40, TRAIN, 0},
                {TC_F16, 1, 2, 100, 100, 40, 40, TRAIN | STRIDED, 0},
                {TC_BF16, 1, 1, 64, 128, 64, 64, TRAIN | MASK_FLOAT, 0},
                {TC_F16, 1, 1, 64, 64, 64, 64, TRAIN | PLAIN | CAUSAL, 0})

// Few rows, as steps of decoding have: lanes share keys, blocks their stretches, groups of heads what they read.
ATTENTION(one_row, {TC_BF16, 1, 2, 1, 1, 64, 64, 0, 0},
          {TC_F16, 1, 1, 1, 7, 128, 128, 0, 0}, {TC_BF16, 1, 3, 1, 33, 32, 32, 0, 1},
          {TC_F16, 2, 2, 1, 1000, 128, 128, 0, 1}, {TC_BF16, 1, 1, 1, 1024, 80, 80, 0, 1},
          {TC_BF16, 1, 1, 1, 4099, 64, 64, 0, 1},
          {TC_F16, 1, 2, 1, 300, 256, 256, OWN_SCALE, 1},
          {TC_BF16, 3, 5, 1, 129, 40, 96, 0, 1}, {TC_F16, 1, 1, 1, 200, 128, 16, 0, 1},
          {TC_BF16, 1, 1, 1, 600, 8, 8, 0, 1})

ATTENTION(few_rows, {TC_BF16, 1, 2, 2, 100, 64, 64, 0, 1},
          {TC_F16, 1, 1, 3, 1000, 128, 128, CAUSAL, 1},
          {TC_BF16, 2, 2, 4, 333, 80, 80, 0, 1}, {TC_F16, 1, 1, 4, 70, 256, 256, 0, 1},
          {TC_BF16, 1, 2, 4, 4, 64, 64, CAUSAL, 0}, {TC_BF16, 1, 1, 2, 4099, 32, 32, 0, 1})

// So many heads that the blocks of one are a cluster, where the device has them; the last one has no keys.
ATTENTION(few_rows_of_many_heads, {TC_BF16, 1, 32, 1, 300, 64, 64, 0, 1},
          {TC_F16, 2, 15, 1, 333, 128, 128, MASK_BOOL, 1},
          {TC_BF16, 1, 128, 1, 200, 128, 128, GQA, 1},
          {TC_F16, 5, 5, 3, 129, 40, 40, CAUSAL, 1},
          {TC_BF16, 1, 26, 4, 65, 256, 256, 0, 1})

// Where blocks cannot be clusters, they meet by tickets.
TEST(few_rows_without_clusters) {
    static const attention a[] = {{TC_BF16, 1, 32, 1, 300, 64, 64, 0, 1},
                                  {TC_F16, 2, 15, 3, 333, 128, 128, MASK_BOOL, 1},
                                  {TC_BF16, 1, 128, 1, 200, 128, 128, GQA, 1}};
    if (device_is_real) SKIP("of an older GPU");
    REQUIRE(device_use());
    fake->major = 8;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) check_attention(&a[i]);
}

ATTENTION(few_rows_of_plain_ops, {TC_BF16, 1, 2, 1, 500, 64, 64, PLAIN, 1},
          {TC_F16, 1, 1, 3, 64, 128, 128, PLAIN | CAUSAL, 0},
          {TC_BF16, 1, 2, 4, 90, 64, 64, PLAIN | WINDOW, 0})

// A mask of f32 makes the shares f32: two kernels.
ATTENTION(few_rows_behind_masks, {TC_BF16, 1, 2, 1, 700, 64, 64, MASK_BOOL, 1},
          {TC_F16, 1, 2, 1, 333, 128, 128, MASK_HALF, 1},
          {TC_BF16, 2, 1, 3, 257, 80, 80, MASK_FLOAT, 2},
          {TC_F16, 1, 1, 1, 600, 64, 64, MASK_BOOL | EMPTY_ROW, 1},
          {TC_BF16, 1, 1, 4, 1100, 128, 128, MASK_HALF | EMPTY_ROW, 1},
          {TC_F16, 1, 2, 4, 50, 64, 64, WINDOW, 0})

ATTENTION(few_rows_of_groups, {TC_BF16, 1, 8, 1, 1000, 128, 128, GQA, 1},
          {TC_F16, 2, 4, 1, 77, 64, 64, GQA, 1},
          {TC_BF16, 2, 8, 2, 300, 64, 64, GQA | CAUSAL, 1},
          {TC_F16, 1, 4, 3, 129, 80, 64, GQA | MASK_BOOL, 1},
          {TC_BF16, 1, 8, 4, 65, 32, 32, GQA | MASK_HALF, 1})

ATTENTION(few_rows_without_numbers, {TC_BF16, 1, 2, 1, 300, 64, 64, NO_NUMBERS, 1},
          {TC_F16, 1, 2, 4, 600, 128, 128, NO_NUMBERS | MASK_BOOL, 1},
          {TC_BF16, 1, 2, 3, 100, 64, 64, NO_NUMBERS | PLAIN | WINDOW, 0})

// ---- bits

static double *bits_of(job *j) {
    int64_t n = 0, all = 0;
    for (int p = 0; p < PARTS; p++) all += j->of[p].count;
    double *kept = (double *)malloc(sizeof *kept * (size_t)all);
    run_job(j);
    for (int p = 0; p < PARTS; n += j->of[p++].count)
        memcpy(kept + n, j->of[p].have, sizeof *kept * (size_t)j->of[p].count);
    return kept;
}

static void check_bits(const attention *a) {
    job j;
    tc_ctx *tc = context_open();
    REQUIRE(tc);
    job_open(&j, tc, a);
    double *first = bits_of(&j);
    int64_t n = 0;
    for (int p = 0; p < PARTS; p++) n += j.of[p].count;
    for (int i = 0; i < 3; i++) {
        double *again = bits_of(&j);
        if (memcmp(first, again, sizeof *first * (size_t)n))
            FAIL("visit %d has other bits: %s", i + 2, name_of(a));
        free(again);
    }
    free(first);
    job_close(&j);
    context_close(tc);
}

TEST(the_same_bits_at_every_visit) {
    static const attention a[] = {{TC_BF16, 1, 2, 100, 127, 64, 64, CAUSAL, 0},
                                  {TC_F16, 1, 4, 64, 64, 40, 40, TRAIN | GQA, 0},
                                  {TC_BF16, 1, 2, 1, 1000, 128, 128, 0, 1},
                                  {TC_F16, 1, 4, 2, 333, 64, 64, GQA, 1},
                                  {TC_BF16, 1, 32, 1, 300, 64, 64, 0, 1},
                                  {TC_BF16, 1, 2, 150, 150, 64, 64, TRAIN | CAUSAL, 0}};
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) check_bits(&a[i]);
}

// ---- rows and columns that programs get at run time

static void check_sizes(attention a) {
    static const int sizes[] = {64, 100, 17, 130};
    tc_ctx *tc = context_open();
    REQUIRE(tc);
    for (int i = 0; i < 4; i++) {
        a.m = sizes[i], a.n = a.flags & CAUSAL ? a.m : 2 * a.m;
        check_in(tc, &a);
    }
    context_close(tc);
}

static void check_batches(attention a) {
    tc_ctx *tc = context_open();
    REQUIRE(tc);
    for (a.batch = 2; a.batch < 5; a.batch++) check_in(tc, &a);
    context_close(tc);
}

TEST(sizes_at_run_time) {
    check_sizes((attention){TC_BF16, 1, 2, 0, 0, 64, 64, CAUSAL, 1});
    check_sizes((attention){TC_BF16, 2, 3, 0, 0, 16, 24, MASK_BOOL, 1});
    check_sizes((attention){TC_F16, 1, 4, 0, 0, 16, 16, GQA | PLAIN | CAUSAL, 1});
    check_sizes((attention){TC_F16, 1, 1, 0, 0, 40, 40, 0, 1});
}

// The cache of a step of decoding grows.
static void check_caches(attention a) {
    static const int sizes[] = {100, 101, 7, 700, 2050};
    tc_ctx *tc = context_open();
    REQUIRE(tc);
    for (int i = 0; i < 5; i++) {
        a.n = sizes[i];
        check_in(tc, &a);
    }
    context_close(tc);
}

TEST(caches_at_run_time) {
    check_caches((attention){TC_BF16, 1, 8, 1, 0, 64, 64, 0, 1});
    check_caches((attention){TC_F16, 2, 4, 1, 0, 128, 128, GQA, 1});
    check_caches((attention){TC_BF16, 1, 32, 1, 0, 40, 40, MASK_BOOL, 1});
}

TEST(batches_at_run_time) {
    check_batches((attention){TC_BF16, 0, 2, 65, 65, 16, 16, CAUSAL, 1});
    check_batches((attention){TC_F16, 0, 2, 33, 70, 16, 24, MASK_BOOL, 1});
}
