// Random programs of products.c. A recipe is a list of words, and a program is what choose() makes of them, one after the
// other: the machine goes through the same C functions to make inputs, to record the program, to calculate it by loops
// (arrays.h) and to print it. 0 is always the simplest choice, so a recipe shrinks by words that become smaller, and any
// list is a recipe.
#ifndef FUZZ_RECIPE_H
#define FUZZ_RECIPE_H
#include "arrays.h"

enum { WORDS = 400, MOST = 240, MOST_INPUTS = 40, MOST_RESULTS = 24 };

typedef struct recipe {
    uint64_t seed;
    uint32_t word[WORDS];
} recipe;

typedef enum pass { MAKE, RECORD, CALCULATE } pass;

typedef struct machine {
    const recipe *p;
    int set, execution,
        dynamic; // which sizes, which numbers; 1: some sizes are marked as dynamic
    pass pass;
    tc_ctx *tc;   // of MAKE and RECORD; NULL = it is printed only
    FILE *f;      // prints; or NULL
    double moved; // inputs are moved by this much along a direction: differences
    int eager;    // it has no gradients
    int fast;     // TC_NUMERICS_FAST: what that computes otherwise comes more often
    int wild;     // some numbers are NaN, infinity, subnormal or large
    int at, extents, n, inputs, results, derives;
    int64_t limit; // factors that are multiplied
    tc_tensor v[MOST], in[MOST_INPUTS], grad[MOST_INPUTS];
    array a[MOST];
    int result[MOST_RESULTS], input[MOST_INPUTS];
    int wrt[MOST_INPUTS], n_wrt; // inputs whose gradients are asked for
    double loss;                 // of CALCULATE
} machine;

// ---- choosing ----
static int choose(machine *m, int n) {
    uint32_t w = m->at < WORDS ? m->p->word[m->at] : 0;
    m->at++;
    return (int)(w % (uint32_t)n);
}

static int odds(machine *m, int percent) { return choose(m, 100) >= 100 - percent; }

// One of a table; other sets of sizes have others.
static int64_t extent(machine *m, const int *table, int n) {
    int64_t e = table[choose(m, n)];
    uint64_t h = mix(m->p->seed + (uint64_t)m->set * 7919 + (uint64_t)m->extents++ * 65537);
    if (!m->set || h % 100 < 40) return e;
    return h % 3 ? 1 + (int64_t)(h >> 8) % (2 * e) : table[(h >> 8) % (uint64_t)n];
}
#define EXTENT(m, ...)                                                                     \
    extent(m, ((const int[]){__VA_ARGS__}),                                                \
           (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
#define ONE_OF(m, ...)                                                                     \
    (((const int[]){                                                                       \
        __VA_ARGS__})[choose(m, (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))])

// A size of two parts, which operands may have apart from each other: heads and their width.
typedef struct axis {
    int64_t n[2];
} axis;

static int64_t whole(axis a) { return a.n[0] * a.n[1]; }

static axis one(int64_t n) {
    axis a = {{1, n}};
    return a;
}

static axis in_two(machine *m, int64_t n) {
    axis a = {{EXTENT(m, 2, 3, 4, 5, 8, 16), 1}};
    if (n / a.n[0] > 0) a.n[1] = n / a.n[0];
    return a;
}

static axis in_parts(machine *m, int64_t n) { return odds(m, 35) ? in_two(m, n) : one(n); }

static void halve(axis *a) {
    int64_t *n = &a->n[a->n[1] > 1];
    *n = (*n + 1) / 2;
}

// Halves the largest until there are no more than `limit` of all.
static void fit(axis **a, int n, int64_t limit) {
    for (;;) {
        int64_t all = 1;
        int most = 0;
        for (int i = 0; i < n; i++) {
            all *= whole(*a[i]);
            if (whole(*a[i]) > whole(*a[most])) most = i;
        }
        if (all <= limit || whole(*a[most]) == 1) return;
        halve(a[most]);
    }
}

// ---- calls: each is calculated, recorded or printed ----
static const char *dims_text(tc_dims d) {
    static char ring[4][200];
    static int next;
    char *s = ring[next++ % 4];
    int n = snprintf(s, 200, d.rank ? "TC_DIMS(" : "TC_SCALAR");
    for (int i = 0; i < d.rank; i++)
        n += snprintf(s + n, (size_t)(200 - n), "%s%lld", i ? ", " : "",
                      (long long)d.size[i]);
    if (d.rank) snprintf(s + n, (size_t)(200 - n), ")");
    return s;
}

#define A(i) (&m->a[i])
#define T(i) (m->v[i])
// Value r is what `call_` gives, the text is that.
#define DO(r, call_, ...)                                                                  \
    do {                                                                                   \
        if (m->f && m->pass == RECORD) {                                                   \
            fprintf(m->f, "    tc_tensor v%d = ", r);                                      \
            fprintf(m->f, __VA_ARGS__);                                                    \
            fprintf(m->f, ";\n");                                                          \
        }                                                                                  \
        if (m->tc && m->pass == RECORD) T(r) = (call_);                                    \
    } while (0)

static int add(machine *m, array a) {
    if (m->n == MOST) abort();
    m->a[m->n] = a;
    return m->n++;
}

// Whether there is room for what an instruction makes at most.
static int has_room(const machine *m) {
    return m->n < MOST - 60 && m->inputs < MOST_INPUTS - 10;
}

static void result(machine *m, int v) {
    for (int i = 0; i < m->results; i++)
        if (m->result[i] == v) return;
    if (m->results == MOST_RESULTS) return;
    m->result[m->results++] = v;
    if (m->f && m->pass == RECORD) fprintf(m->f, "    tc_keep(v%d);\n", v);
    if (m->tc && m->pass == RECORD) tc_keep(T(v));
}

// ---- inputs: numbers that all dtypes have, from -2 to 2; integers are small, or of the whole range ----
// The code is a text as well, for reproducers.
#define FUZZ_ELEMENT                                                                       \
    static double element(uint64_t seed, int number, int execution, int64_t i, int dtype,  \
                          int below_this) {                                                \
        uint64_t of = mix(seed ^ (uint64_t)number << 50);                                  \
        uint64_t h = mix(of + (uint64_t)i * 4 + (uint64_t)execution);                      \
        int bits = dtype == TC_I64 ? 48 : 8 * (int)tc_dtype_bytes((tc_dtype)dtype);        \
        if (below_this > 0) return (double)(h % (uint64_t)below_this);                     \
        if (below_this < 0 && of % 3 && mix(h) % (of % 2 ? 300 : 5000) == 0) {             \
            static const double wild[] = {INFINITY, NAN,      -INFINITY, 0x1p-130,         \
                                          NAN,      -0x1p-20, 0x1p12,    -0x1p40};         \
            return wild[h % 8];                                                            \
        }                                                                                  \
        if (dtype == TC_BOOL) return (double)(h >> 63);                                    \
        if (dtype == TC_F64) return (double)(h >> 12) * 0x1p-50 - 2;                       \
        if (dtype == TC_F32) return (double)(h >> 40) * 0x1p-22 - 2;                       \
        if (dtype == TC_F16 || dtype == TC_BF16)                                           \
            return (double)(int64_t)(h >> 56) * 0x1p-6 - 2;                                \
        if (of % 4) return dtype == TC_U8 ? (double)(h % 10) : (double)(h % 19) - 9;       \
        return (dtype == TC_U8 ? 0 : -ldexp(1, bits - 1)) + (double)(h >> (64 - bits));    \
    }
#define FUZZ_QUOTED(...) #__VA_ARGS__
#define FUZZ_TEXT(...)   FUZZ_QUOTED(__VA_ARGS__)
// clang-format off
FUZZ_ELEMENT
// clang-format on

// The direction of differences, from -1 to 1.
static double way_of(int number, int64_t i) {
    return (double)(mix((uint64_t)i + (uint64_t)number * 1000003) >> 11) * 0x1p-52 - 1;
}

static int input_below(machine *m, tc_dims d, int dtype, int below_this) {
    int number = m->inputs++, r = add(m, array_new(d, dtype, m->pass == CALCULATE));
    int64_t n = A(r)->n;
    int known = m->fast && !m->derives && !below_this && odds(m, 10);
    if (m->wild && !m->derives && !below_this && is_floating(dtype)) below_this = -1;
    if (number >= MOST_INPUTS) abort();
    m->input[number] = r;
    if (m->pass == RECORD) T(r) = m->in[number];
    if (m->f && m->pass == MAKE)
        fprintf(m->f, "    tc_tensor v%d = input(tc, %d, %d, %s, %s, %d);\n", r, number,
                m->execution, dims_text(d), dtype_names[dtype], below_this);
    for (int64_t i = 0; A(r)->at && i < n; i++) {
        double x = element(m->p->seed, number, m->execution, i, dtype, below_this);
        if (is_floating(dtype)) // the library casts it from f64, too
            A(r)->at[i].x = nearest(dtype, x) + m->moved * way_of(number, i);
        else
            A(r)->at[i].i = (int64_t)x;
    }
    int marked = m->dynamic && d.rank && odds(m, 20) ? choose(m, d.rank) : -1;
    if (marked >= 0 && (d.size[marked] < 2 || known)) marked = -1;
    if (m->f && m->pass == MAKE && known)
        fprintf(m->f, "    v%d = tc_const(tc, tc_data(v%d), %s, %s);\n", r, r, dims_text(d),
                dtype_names[dtype]);
    if (m->f && m->pass == MAKE && marked >= 0)
        fprintf(m->f, "    tc_mark_dynamic(v%d, %d, 0, 0);\n", r, marked);
    if (!m->tc || m->pass != MAKE) return r;
    double *x = (double *)malloc(((size_t)n + 1) * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = element(m->p->seed, number, m->execution, i, dtype, below_this);
    m->in[number] = tc_cast(tc_from_data(m->tc, x, d, TC_F64), (tc_dtype)dtype);
    free(x);
    if (known) m->in[number] = tc_const(m->tc, tc_data(m->in[number]), d, (tc_dtype)dtype);
    if (marked >= 0) tc_mark_dynamic(m->in[number], marked, 0, 0);
    return r;
}

static int input(machine *m, tc_dims d, int dtype) { return input_below(m, d, dtype, 0); }

// ---- movement ----
static int permute(machine *m, int v, tc_dims order) {
    int r = add(m, array_permute(A(v), order));
    DO(r, tc_permute(T(v), order), "tc_permute(v%d, %s)", v, dims_text(order));
    return r;
}

static int reshape(machine *m, int v, tc_dims d) {
    int r = add(m, array_reshape(A(v), d));
    DO(r, tc_reshape(T(v), d), "tc_reshape(v%d, %s)", v, dims_text(d));
    return r;
}

static int expand(machine *m, int v, tc_dims d) {
    int r = add(m, array_expand(A(v), d));
    DO(r, tc_expand(T(v), d), "tc_expand(v%d, %s)", v, dims_text(d));
    return r;
}

static int slice(machine *m, int v, int dim, int64_t from, int64_t n, int64_t step) {
    int r = add(m, array_slice(A(v), dim, from, n, step));
    int64_t end = step < 0 && from + n * step < 0 ? TC_END : from + n * step;
    if (step > 0 && end > A(v)->d.size[dim]) end = TC_END;
    DO(r, tc_slice(T(v), dim, from, end, step), "tc_slice(v%d, %d, %lld, %lldLL, %lld)", v,
       dim, (long long)from, (long long)end, (long long)step);
    return r;
}

static int repeat(machine *m, int v, int64_t times, int dim) {
    int64_t n = A(v)->d.size[dim] * times, *index = (int64_t *)calloc((size_t)n + 1, 8);
    for (int64_t i = 0; i < n; i++) index[i] = i / times;
    int r = add(m, array_take(A(v), dim, index, n));
    free(index);
    DO(r, tc_repeat_interleave(T(v), times, dim), "tc_repeat_interleave(v%d, %lld, %d)", v,
       (long long)times, dim);
    return r;
}

// `low` and `high` zeros around a dimension.
static int pad(machine *m, int v, int dim, int64_t low, int64_t high) {
    int64_t n = A(v)->d.size[dim],
            *index = (int64_t *)calloc((size_t)(n + low + high + 1), 8);
    tc_dims before = A(v)->d, behind = A(v)->d;
    for (int i = 0; i < before.rank; i++) before.size[i] = behind.size[i] = 0;
    before.size[dim] = low, behind.size[dim] = high;
    for (int64_t i = 0; i < n + low + high; i++)
        index[i] = i < low || i >= low + n ? -1 : i - low;
    int r = add(m, array_take(A(v), dim, index, n + low + high));
    free(index);
    DO(r, tc_pad(T(v), before, behind, 0), "tc_pad(v%d, %s, %s, 0)", v, dims_text(before),
       dims_text(behind));
    return r;
}

// n rows of a dimension, each by a number in a tensor.
static int take(machine *m, int v, int dim, int64_t n) {
    int k = input_below(m, TC_DIMS(n), TC_I32, (int)A(v)->d.size[dim]);
    int64_t *index = (int64_t *)calloc((size_t)n + 1, 8);
    for (int64_t i = 0; A(k)->at && i < n; i++) index[i] = A(k)->at[i].i;
    int r = add(m, array_take(A(v), dim, index, n));
    free(index);
    DO(r, tc_take(T(v), T(k), dim), "tc_take(v%d, v%d, %d)", v, k, dim);
    return r;
}

// ---- element by element ----
static const struct {
    const char *name;
    tc_tensor (*call)(tc_tensor, const char *, int);
    tc_tensor (*with)(tc_tensor, double, const char *, int);
    double floats, integers; // the number
} unary_calls[UNARIES] = {
    {"neg", tc_neg_at, NULL, 0, 0},
    {"relu", tc_relu_at, NULL, 0, 0},
    {"abs", tc_abs_at, NULL, 0, 0},
    {"square", tc_square_at, NULL, 0, 0},
    {"mul_s", NULL, tc_mul_s_at, 0.75, 3},
    {"add_s", NULL, tc_add_s_at, 0.5, 5},
    {"maximum_s", NULL, tc_maximum_s_at, 0.25, 2},
    {"tanh", tc_tanh_at, NULL, 0, 0},
    {"sigmoid", tc_sigmoid_at, NULL, 0, 0},
    {"silu", tc_silu_at, NULL, 0, 0},
};

static int apply(machine *m, int v, unary op) {
    double s = is_floating(A(v)->dtype) ? unary_calls[op].floats : unary_calls[op].integers;
    int r = add(m, array_unary(A(v), op, s));
    if (unary_calls[op].call)
        DO(r, unary_calls[op].call(T(v), __FILE__, __LINE__), "tc_%s(v%d)",
           unary_calls[op].name, v);
    else
        DO(r, unary_calls[op].with(T(v), s, __FILE__, __LINE__), "tc_%s(v%d, %g)",
           unary_calls[op].name, v, s);
    return r;
}

static int cast_to(machine *m, int v, int dtype) {
    if (A(v)->dtype == dtype) return v;
    int r = add(m, array_cast(A(v), dtype));
    DO(r, tc_cast(T(v), (tc_dtype)dtype), "tc_cast(v%d, %s)", v, dtype_names[dtype]);
    return r;
}

static const struct {
    const char *name;
    tc_tensor (*call)(tc_tensor, tc_tensor, const char *, int);
} binary_calls[BINARIES] = {{"add", tc_add_at},
                            {"sub", tc_sub_at},
                            {"mul", tc_mul_at},
                            {"maximum", tc_maximum_at},
                            {"minimum", tc_minimum_at}};

static int combine(machine *m, int v, int w, binary op) {
    int r = add(m, array_binary(A(v), A(w), op));
    DO(r, binary_calls[op].call(T(v), T(w), __FILE__, __LINE__), "tc_%s(v%d, v%d)",
       binary_calls[op].name, v, w);
    return r;
}

// Over the dimensions of a mask, which stay.
static int reduce(machine *m, int v, reduction how, unsigned mask) {
    static const char *const name[] = {"sum", "mean", "amax"};
    tc_dims d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < A(v)->d.rank; i++)
        if (mask >> i & 1) d.size[d.rank++] = i;
    int r = add(m, array_reduce(A(v), how, mask));
    DO(r,
       how == SUM    ? tc_sum_dims(T(v), d, TC_KEEPDIM)
       : how == MEAN ? tc_mean_dims(T(v), d, TC_KEEPDIM)
                     : tc_amax_dims(T(v), d, TC_KEEPDIM),
       "tc_%s_dims(v%d, %s, TC_KEEPDIM)", name[how], v, dims_text(d));
    return r;
}

static int softmax(machine *m, int v) {
    int r = add(m, array_softmax(A(v), 0));
    DO(r, tc_softmax(T(v), -1), "tc_softmax(v%d, -1)", v);
    return r;
}

// y is written to a slice of z, or added there; gives z, which is another value then.
static int write_slice(machine *m, int z, int dim, int64_t from, int64_t step, int y,
                       int adds) {
    tc_dims d = A(y)->d;
    int64_t n = d.size[dim], inner = 1, stride = A(z)->d.size[dim];
    int s = slice(m, z, dim, from, n, step);
    array a = array_new(A(z)->d, A(z)->dtype, A(z)->at != NULL);
    for (int i = dim + 1; i < d.rank; i++) inner *= d.size[i];
    if (a.at) memcpy(a.at, A(z)->at, sizeof *a.at * (size_t)a.n);
    for (int64_t i = 0; a.at && i < A(y)->n; i++) {
        int64_t at = i / (inner * n) * inner * stride +
                     (from + i / inner % n * step) * inner + i % inner;
        cell c = cast_of(A(y)->dtype, a.dtype, A(y)->at[i]);
        a.at[at] = adds ? binary_of(ADD, a.dtype, a.at[at], c) : c;
    }
    mark_rough(&a);
    int r = add(m, a);
    if (m->f && m->pass == RECORD)
        fprintf(m->f, "    tc_%s_(v%d, v%d);\n", adds ? "add" : "copy", s, y);
    if (m->tc && m->pass == RECORD) adds ? tc_add_(T(s), T(y)) : tc_copy_(T(s), T(y));
    DO(r, T(z), "v%d", z);
    return r;
}

// ---- operands ----
static const int float_dtypes[] = {TC_F32, TC_F64, TC_BF16, TC_F16};

static int random_dtype(machine *m) {
    if (m->fast && odds(m, 40)) return TC_BF16;
    return ONE_OF(m, TC_F32, TC_F32, TC_F32, TC_F32, TC_F32, TC_F32, TC_F32, TC_F64,
                  TC_BF16, TC_F16, TC_I32, TC_I8, TC_F64, TC_BF16, TC_U8, TC_I64, TC_I16);
}

static int random_float(machine *m) {
    if (m->fast && odds(m, 25)) return TC_BF16;
    return ONE_OF(m, TC_F32, TC_F32, TC_F32, TC_F32, TC_F32, TC_F32, TC_F64, TC_BF16,
                  TC_F16);
}

typedef enum lie { AS_IT_IS, STEPPED, REVERSED, EXPANDED, OFFSET, PADDED, TAKEN, LIES } lie;

// Dimension `dim` of an input, of which `n` elements are wanted.
static int64_t stored(lie how, int64_t n) {
    if (how == STEPPED) return 2 * n + 1;
    if (how == EXPANDED) return 1;
    if (how == OFFSET) return n + 3;
    return how == PADDED && n > 2 ? n - 2 : how == TAKEN ? n + 1 : n;
}

static int laid(machine *m, int v, int dim, lie how, int64_t n) {
    tc_dims d = A(v)->d;
    d.size[dim] = n;
    switch (how) {
    case STEPPED: return slice(m, v, dim, 1, n, 2);
    case REVERSED: return slice(m, v, dim, n - 1, n, -1);
    case EXPANDED: return expand(m, v, d);
    case OFFSET: return slice(m, v, dim, 2, n, 1);
    case PADDED: return n > 2 ? pad(m, v, dim, 1, 1) : v;
    case TAKEN: return take(m, v, dim, n);
    default: return v;
    }
}

static void swap_sizes(tc_dims *d, int i) {
    int64_t t = d->size[i];
    d->size[i] = d->size[i + 1], d->size[i + 1] = t;
}

// A view of these sizes: an input in another order of dimensions, which may be in parts there, every other element of it,
// or backwards, ...
static int view_of_input(machine *m, const axis *a, int n, int dtype) {
    tc_dims d, part, base, order, back;
    lie how[TC_MAX_RANK];
    memset(&d, 0, sizeof d), memset(&part, 0, sizeof part);
    for (int i = 0; i < n; i++) {
        int two = a[i].n[0] > 1 && a[i].n[1] > 1 && part.rank + n - i < TC_MAX_RANK;
        d.size[d.rank++] = whole(a[i]);
        if (two) part.size[part.rank++] = a[i].n[0];
        part.size[part.rank++] = two ? a[i].n[1] : whole(a[i]);
    }
    order = back = base = part;
    for (int i = 0; i < part.rank; i++) order.size[i] = i;
    int moved = odds(m, 60), turned = odds(m, 50), lies = odds(m, 25);
    if (moved && turned &&
        part.rank > 1) // the usual one: a matrix turned, heads beside each other
        swap_sizes(&order, part.rank == 4 ? 1 : part.rank - 2);
    for (int i = part.rank - 1; i > 0 && moved && !turned; i--) {
        int k = choose(m, i + 1);
        int64_t t = order.size[i];
        order.size[i] = order.size[k], order.size[k] = t;
    }
    for (int i = 0; i < part.rank; i++) {
        back.size[order.size[i]] = i;
        how[i] = lies && odds(m, 40) ? (lie)choose(m, LIES) : AS_IT_IS;
        base.size[i] = stored(how[i], part.size[order.size[i]]);
    }
    int v = input(m, base, dtype), straight = 1;
    for (int i = 0; i < part.rank; i++)
        v = laid(m, v, i, how[i], part.size[order.size[i]]), straight &= back.size[i] == i;
    if (!straight) v = permute(m, v, back);
    return part.rank == d.rank ? v : reshape(m, v, d);
}

static int beside(machine *m, int v, int dtype);

// The same, sometimes computed.
static int operand(machine *m, const axis *a, int n, int dtype) {
    int from = dtype;
    if (odds(m, 4)) from = is_floating(dtype) ? random_float(m) : random_dtype(m);
    if (!is_floating(dtype) && is_floating(from)) from = dtype;
    int v = cast_to(m, view_of_input(m, a, n, from), dtype);
    int steps = odds(m, 20) ? 1 + choose(m, 2) : 0;
    for (int i = 0; i < steps && has_room(m); i++) {
        int how = choose(m, 8);
        if (how < 6)
            v = apply(m, v, ONE_OF(m, NEG, RELU, TIMES, PLUS, ABS, AT_LEAST));
        else if (how == 6 || !is_floating(dtype))
            v = combine(m, v, beside(m, v, dtype), choose(m, 2) ? MUL : ADD);
        else
            v = apply(m, v, TANH);
    }
    return v;
}

// Something that broadcasts with v: a value for each row, column, element, some of them, for each two or three.
static int beside(machine *m, int v, int dtype) {
    axis a[TC_MAX_RANK];
    int64_t times[TC_MAX_RANK];
    tc_dims d = A(v)->d;
    int from = odds(m, 30) && d.rank ? choose(m, d.rank) : 0, n = 0;
    int how = choose(m, 8); // of all, of one dimension, or of any
    memset(a, 0, sizeof a);
    for (int i = from; i < d.rank; i++, n++) {
        int64_t size = d.size[i];
        int kept = how == 0 || how == d.rank - i || (how > 4 && odds(m, 50));
        times[n] = 1;
        if (!kept) size = 1;
        if (size > 3 && odds(m, 25)) times[n] = 2 + choose(m, 2);
        a[n] = one((size + times[n] - 1) / times[n]);
    }
    int w = view_of_input(m, a, n, dtype);
    for (int i = 0; i < n; i++) {
        if (times[i] == 1) continue;
        w = repeat(m, w, times[i], i);
        if (A(w)->d.size[i] > d.size[from + i]) w = slice(m, w, i, 0, d.size[from + i], 1);
    }
    return w;
}

#endif
